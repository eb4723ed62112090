/*-------------------------------------------------------------------------
 *
 * backend_rest.c
 *	  The part of the stand-in whose declarations differ between PostgreSQL's
 *	  versions, and so without its headers: rows, and what is never looked at
 *	  but must have an address when a target starts.
 *
 *-------------------------------------------------------------------------
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 3

uintptr_t	row_values[MAX_COLUMNS];
bool		row_nulls[MAX_COLUMNS];

/* a row type that fits */
int			get_call_result_type(void *fcinfo, void *type, void **descriptor);

int
get_call_result_type(void *fcinfo, void *type, void **descriptor)
{
	(void) fcinfo;
	(void) type;
	*descriptor = row_values;
	return 1;					/* TYPEFUNC_COMPOSITE in all versions */
}

void	   *BlessTupleDesc(void *descriptor);

void *
BlessTupleDesc(void *descriptor)
{
	return descriptor;
}

/* A HeapTuple has its row's address behind length, place and table. */
typedef struct Tuple
{
	uint32_t	length;
	uint16_t	place[3];
	uint32_t	table;
	void	   *row;
} Tuple;

void	   *heap_form_tuple(void *descriptor, const uintptr_t *values, const bool *nulls);

void *
heap_form_tuple(void *descriptor, const uintptr_t *values, const bool *nulls)
{
	static Tuple tuple;

	(void) descriptor;
	memcpy(row_values, values, sizeof(row_values));
	memcpy(row_nulls, nulls, sizeof(row_nulls));
	tuple.row = row_values;
	return &tuple;
}

uintptr_t	HeapTupleHeaderGetDatum(void *row);

uintptr_t
HeapTupleHeaderGetDatum(void *row)
{
	return (uintptr_t) row;
}

/* functions that are called by their address */
#define NEVER_CALLED(name) \
	void name(void); \
	void name(void) { abort(); }

NEVER_CALLED(interval_in)
NEVER_CALLED(nextval_oid)
NEVER_CALLED(timestamptz_in)

/* variables */
char	   *GUC_check_errdetail_string;
char	   *GUC_check_errhint_string;
bool		InitializingParallelWorker;
uint64_t	SPI_processed;
void	   *SPI_tuptable;
int			day_tab[2][13];
bool		process_shared_preload_libraries_in_progress;
void	   *session_timezone;
