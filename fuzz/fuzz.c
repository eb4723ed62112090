/*-------------------------------------------------------------------------
 *
 * fuzz.c
 *	  The entry point of the fuzz targets.
 *
 * palloc() is that of libpgcommon: malloc(), so that AddressSanitizer knows
 * the ends of each piece of memory.  Memory that a target did not free is freed
 * after each input.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <sanitizer/allocator_interface.h>

extern void fuzz_target(Input *input);	/* fuzz.sh links a target by this name */

void
check_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

/* --- The entry point --- */

static const volatile void *pieces[65536];
static size_t piece_count;
static __thread bool in_target; /* not in threads of libFuzzer */

void
__sanitizer_malloc_hook(const volatile void *piece, size_t size)
{
	if (!in_target)
		return;
	CHECK(piece_count < lengthof(pieces));
	pieces[piece_count++] = piece;
}

int
LLVMFuzzerTestOneInput(const char *bytes, size_t length)
{
	Input		input = {bytes, length};

	in_target = true;
	fuzz_target(&input);
	in_target = false;
	while (piece_count > 0)
	{
		const volatile void *piece = pieces[--piece_count];

		if (__sanitizer_get_ownership(piece))
			free((void *) piece);
	}
	return 0;
}
