/*-------------------------------------------------------------------------
 *
 * object_id.h
 *	  The text of an ObjectId: hexadecimal digits.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_OBJECT_ID_H
#define IDGEN_OBJECT_ID_H

#define OBJECT_ID_DIGITS	24

#endif							/* IDGEN_OBJECT_ID_H */
