/*-------------------------------------------------------------------------
 *
 * bits.c
 *	  Extracts the random bits of identifiers into one stream of bytes.
 *
 * Reads the output of COPY ... WITH (FORMAT binary) of one column of fixed
 * width.  Writes the bits of each value that the arguments name, counted from 0
 * for the highest ("66-127" and so on), without gaps.  An incomplete last byte
 * is left out.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_LENGTH	19		/* signature, flags, length of the extension */
#define MAX_VALUE		16

/* A number in network byte order; -1 at the end of the input. */
static long
read_number(int bytes)
{
	unsigned long number = 0;

	for (int i = 0; i < bytes; i++)
	{
		int			byte = getchar();

		if (byte == EOF)
			return -1;
		number = number << 8 | (unsigned long) byte;
	}
	return (long) number;
}

static void
fail(const char *why)
{
	fprintf(stderr, "bits: %s\n", why);
	exit(1);
}

int
main(int argc, char **argv)
{
	unsigned char value[MAX_VALUE];
	unsigned char header[HEADER_LENGTH];
	int			out = 0;
	int			out_bits = 0;

	if (fread(header, 1, sizeof(header), stdin) != sizeof(header) ||
		memcmp(header, "PGCOPY\n\377\r\n", 11) != 0)
		fail("input is not a binary COPY");

	/* each row begins with its number of columns; -1 is the end */
	while (read_number(2) == 1)
	{
		long		length = read_number(4);

		if (length < 1 || length > MAX_VALUE ||
			fread(value, 1, (size_t) length, stdin) != (size_t) length)
			fail("value is not of fixed width");

		for (int i = 1; i < argc; i++)
		{
			char	   *end;
			long		first = strtol(argv[i], &end, 10);
			long		last = *end == '-' ? strtol(end + 1, NULL, 10) : first;

			if (first < 0 || last < first || last >= 8 * length)
				fail("bits out of range");
			for (long bit = first; bit <= last; bit++)
			{
				out = out << 1 | (value[bit / 8] >> (7 - bit % 8) & 1);
				if (++out_bits == 8)
				{
					putchar(out);
					out = out_bits = 0;
				}
			}
		}
	}
	if (ferror(stdin) || fflush(stdout) != 0)
		fail("input or output failed");
	return 0;
}
