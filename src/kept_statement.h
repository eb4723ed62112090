/*
 * kept_statement.h
 *	  SPI statements whose plans are kept for the session.
 */
#ifndef IDGEN_KEPT_STATEMENT_H
#define IDGEN_KEPT_STATEMENT_H

#include "executor/spi.h"

/* A statement whose plan is prepared at its first use and then kept. */
typedef struct KeptStatement
{
	const char *text;
	int			options;		/* CURSOR_OPT_... */
	int			nargs;
	Oid			argtypes[6];
	SPIPlanPtr	plan;
} KeptStatement;

extern uint64 run_statement(KeptStatement *statement, Datum *values, const char *nulls);
extern uint64 run_by_index(KeptStatement *statement, Datum *values);
extern void disable_scan(const char *method);

#endif							/* IDGEN_KEPT_STATEMENT_H */
