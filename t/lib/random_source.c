/*
 * random_source.c: RAND_bytes() of OpenSSL, for a server under test.
 *
 * The server preloads this library.  It reads two files in the folder
 * $IDGEN_RANDOM.  The file "fail" contains the ID of a process whose next
 * request for 16 bytes fails, or 0 if all such requests of all processes fail.
 * The file "secret" contains the 16 bytes that a request returns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static FILE *
open_file(const char *name)
{
	char		path[1024];

	snprintf(path, sizeof(path), "%s/%s", getenv("IDGEN_RANDOM"), name);
	return fopen(path, "r+");
}

int
RAND_bytes(unsigned char *bytes, int count)
{
	FILE	   *file;
	int			pid = 0;

	if (count == 16 && (file = open_file("fail")) != NULL)
	{
		int			found = fscanf(file, "%d", &pid) == 1 && (pid == 0 || pid == getpid());

		/* Only one request of the process fails. */
		if (found && pid != 0 && ftruncate(fileno(file), 0) != 0)
			abort();
		fclose(file);
		if (found)
			return 0;
	}
	if (count == 16 && (file = open_file("secret")) != NULL)
	{
		size_t		read = fread(bytes, 1, 16, file);

		fclose(file);
		return read == 16;
	}
	return getrandom(bytes, count, 0) == count;
}
