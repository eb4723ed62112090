/*
 * mask_keys.h
 *	  The secret keys of masks and permutations, by name.
 */
#ifndef IDGEN_MASK_KEYS_H
#define IDGEN_MASK_KEYS_H

extern char *mask_key_file_setting;

extern const uint8 *mask_key(const char *name, int length);

#endif							/* IDGEN_MASK_KEYS_H */
