/*-------------------------------------------------------------------------
 *
 * creation.h
 *	  The services of creation.c and forget_creations.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef IDGEN_CREATION_H
#define IDGEN_CREATION_H

#include "executor/spi.h"
#include "utils/jsonb.h"

/* A statement whose plan is prepared at its first use and then kept. */
typedef struct KeptStatement
{
	const char *text;
	int			options;		/* CURSOR_OPT_... */
	int			nargs;
	Oid			argtypes[5];
	SPIPlanPtr	plan;
} KeptStatement;

/* kept_statement.c */
extern uint64 run_statement(KeptStatement *statement, Datum *values, const char *nulls);
extern uint64 run_search(KeptStatement *statement, Datum *values);
extern void disable_scan(const char *method);

/* request_hash.c */
extern int64 request_hash(Jsonb *request);

#endif							/* IDGEN_CREATION_H */
