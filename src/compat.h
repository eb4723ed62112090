/*
 * compat.h
 *	  Differences between server versions that affect several files.
 *
 * A difference that affects only one file is handled in that file.
 */
#ifndef IDGEN_COMPAT_H
#define IDGEN_COMPAT_H

/* The macros for variable-length values.  Before version 16, they are in postgres.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* The local id of this backend's transaction.  Requires storage/proc.h. */
#if PG_VERSION_NUM >= 170000
#define MY_LOCAL_TRANSACTION_ID	MyProc->vxid.lxid
#else
#define MY_LOCAL_TRANSACTION_ID	MyProc->lxid
#endif

#endif							/* IDGEN_COMPAT_H */
