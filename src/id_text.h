/*-------------------------------------------------------------------------
 *
 * id_text.h
 *	  Identifiers as text: digits of a base, which a prefix can precede.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_ID_TEXT_H
#define IDGEN_ID_TEXT_H

#include "radix.h"

/* separates the prefix from the digits */
#define ID_PREFIX_SEPARATOR '_'

/* the longest prefix, of prefixed ids and of TypeIDs */
#define ID_PREFIX_MAX_LENGTH	63

/* the most characters in a text of a prefix, a separator and digits */
#define ID_TEXT_MAX_LENGTH(radix)	(ID_PREFIX_MAX_LENGTH + 1 + radix_width(radix))

/* A text argument that is read as an identifier. */
typedef struct IdText
{
	const char *bytes;
	int			length;
	const char *noun;			/* "prefixed id", for messages */
} IdText;

extern IdText id_text_argument(FunctionCallInfo fcinfo, const char *noun,
							   int max_characters);
extern void id_text_refuse(const IdText *id, const char *problem);

extern int	id_text_prefix(const IdText *id, bool digits_allowed);
extern void id_text_digits(const IdText *id, int offset, const Radix *radix,
						   uint64 *high, uint64 *low);
extern pg_uuid_t *id_text_uuid(const IdText *id, int offset, const Radix *radix);
extern pg_uuid_t *id_text_full_uuid(const IdText *id, int offset, const Radix *radix);

extern const char *id_prefix_problem(const char *prefix, int length, bool digits_allowed);
extern void id_prefix_require(const text *prefix, bool digits_allowed);
extern void id_text_require_prefix(const IdText *id, int prefix_length,
								   const text *expected);
extern Datum id_text_make(const text *prefix, const pg_uuid_t *id, const Radix *radix);

#endif							/* IDGEN_ID_TEXT_H */
