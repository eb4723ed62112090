/*
 * own_sequence.h
 *	  The sequences of the extension.
 */
#ifndef IDGEN_OWN_SEQUENCE_H
#define IDGEN_OWN_SEQUENCE_H

extern Oid	lock_own_sequence(const char *name, const char *function);

#endif							/* IDGEN_OWN_SEQUENCE_H */
