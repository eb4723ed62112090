/*
 * request_hash.h
 *	  A hash of a request, which is a jsonb value.
 */
#ifndef IDGEN_REQUEST_HASH_H
#define IDGEN_REQUEST_HASH_H

#include "utils/jsonb.h"

extern int64 request_hash(Jsonb *request);

#endif							/* IDGEN_REQUEST_HASH_H */
