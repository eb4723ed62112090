/*
 * compat.h
 *	  Differences between server versions that affect several files.
 *
 * Those of shared memory are in shared_memory.h, and those that affect one
 * file are below its includes.
 */
#ifndef IDGEN_COMPAT_H
#define IDGEN_COMPAT_H

/* The macros for values of variable length; before version 16, postgres.h has them. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* The number of this backend's transaction, which needs <storage/proc.h>. */
#if PG_VERSION_NUM >= 170000
#define MY_LOCAL_TRANSACTION_ID	MyProc->vxid.lxid
#else
#define MY_LOCAL_TRANSACTION_ID	MyProc->lxid
#endif

#endif							/* IDGEN_COMPAT_H */
