/*
 * hash_counter.c: HMAC_Init_ex() of OpenSSL, for a server under test.
 *
 * The server preloads this library.  Each time a process begins a hash, the
 * library adds a byte to a file in the folder $IDGEN_HASHES.  The name of the
 * file is the process ID.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
HMAC_Init_ex(void *context, const void *key, int length, const void *hash, void *engine)
{
	int			(*begin) (void *, const void *, int, const void *, void *) = dlsym(RTLD_NEXT, "HMAC_Init_ex");
	char		path[1024];
	int			file;

	snprintf(path, sizeof(path), "%s/%d", getenv("IDGEN_HASHES"), getpid());
	file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (begin == NULL || file < 0 || write(file, "x", 1) != 1 || close(file) != 0)
		abort();
	return begin(context, key, length, hash, engine);
}
