/*
 * key_file.h
 *	  Named secret keys from the key file.
 */
#ifndef IDGEN_KEY_FILE_H
#define IDGEN_KEY_FILE_H

#define MAX_KEY_NAME_BYTES	63
#define SECRET_KEY_BYTES	16

/* the characters that separate the words of a line, and the names in a list of keys */
#define KEY_FILE_WHITESPACE	" \t\n\r\v\f"

typedef struct SecretKey
{
	uint8		bytes[SECRET_KEY_BYTES];
} SecretKey;

extern const SecretKey *named_key(const text *name);

#endif							/* IDGEN_KEY_FILE_H */
