/*
 * id_text.h
 *	  Identifiers as text: an optional prefix, and digits of some base.
 */
#ifndef IDGEN_ID_TEXT_H
#define IDGEN_ID_TEXT_H

#include "radix.h"

/* separates the prefix from the digits */
#define ID_PREFIX_SEPARATOR '_'

/* A text argument to be parsed as an identifier. */
typedef struct IdText
{
	const char *bytes;
	int			length;
	const char *noun;			/* the type in messages, such as "ULID" */
} IdText;

extern IdText id_text_argument(FunctionCallInfo fcinfo, const char *noun,
							   int max_characters);
extern void id_text_refuse(const IdText *id, const char *problem);
extern pg_uuid_t *id_text_number(const IdText *id, int offset, const Radix *radix,
								 bool requires_all_digits);
extern bool id_text_is_canonical(FunctionCallInfo fcinfo, const Radix *radix, int digits);
extern Datum id_text_make(const text *prefix, const pg_uuid_t *id, const Radix *radix);

#endif							/* IDGEN_ID_TEXT_H */
