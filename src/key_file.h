/*
 * key_file.h
 *	  The secret keys of the key file, by name.
 */
#ifndef IDGEN_KEY_FILE_H
#define IDGEN_KEY_FILE_H

#define MAX_KEY_NAME_BYTES	63
#define NAMED_KEY_BYTES		16

extern char *key_file_setting;

extern const uint8 *named_key(const char *name, int length);

#endif							/* IDGEN_KEY_FILE_H */
