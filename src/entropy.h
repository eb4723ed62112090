/*-------------------------------------------------------------------------
 *
 * entropy.h
 *	  Random bits from the server's CSPRNG, at a price that bulk loads can pay.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_ENTROPY_H
#define IDGEN_ENTROPY_H

extern uint64 entropy_uint64(void);

#endif							/* IDGEN_ENTROPY_H */
