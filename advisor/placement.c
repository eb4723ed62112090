/*-------------------------------------------------------------------------
 *
 * placement.c
 *	  What the leaf pages of the newest rows say of an index: where new rows are
 *	  inserted, and how many pages they change.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "advisor.h"

/* Random rows on half as many leaf pages hardly differ from a larger number. */
#define SHARE_OF_LEAVES		2

/* Limits of placements, see place() */
#define ORDERED_CORRELATION	0.9
#define LOCAL_SHARE			0.4
#define SCATTERED_SHARE		0.8

/* Of rows on so few leaf pages, the order on the leaf pages is read, too. */
#define FEW_LEAVES			20

/* The number of newest rows whose leaf pages are read to measure images. */
#define MEASURED_ROWS		100

/* Above this share of the newest rows in sampled blocks, rows fill the room of others. */
#define FILLING_SHARE		0.1

static int
compare_paths(const void *one, const void *other)
{
	const NewRow *a = *(NewRow *const *) one;
	const NewRow *b = *(NewRow *const *) other;

	if (a->path == b->path)
		return a->offset - b->offset;
	return a->path > b->path ? 1 : -1;
}

/* The newest rows of a number, in the order of their leaf pages. */
static NewRow **
sort_by_leaf(const NewRows *rows, int count)
{
	NewRow	  **sorted = palloc(sizeof(NewRow *) * count);

	for (int i = 0; i < count; i++)
		sorted[i] = &rows->rows[i];
	qsort(sorted, count, sizeof(NewRow *), compare_paths);
	return sorted;
}

/* The number of groups of leaf pages of the newest rows that are up to a distance apart. */
static int
count_groups(const NewRows *rows, int count, int distance)
{
	NewRow	  **sorted = sort_by_leaf(rows, count);
	int			groups = 0;

	for (int i = 0; i < count; i++)
		groups += i == 0 || sorted[i]->path > sorted[i - 1]->path + distance;
	pfree(sorted);
	return groups;
}

/* The number of different leaf pages of the newest rows. */
static int
count_leaves(const NewRows *rows, int count)
{
	return count_groups(rows, count, 0);
}

/* The mean size of the image of a leaf page of the newest rows. */
static double
measure_images(const NewRows *rows, int count, IndexPages *pages)
{
	int			images = 0;
	double		bytes = 0;

	for (int i = 0; i < Min(count, MEASURED_ROWS); i++)
	{
		Page		page = get_page(pages, rows->rows[i].leaf);

		if (page == NULL)
			continue;
		images++;
		bytes += BLCKSZ - (((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower);
	}
	return images > 0 ? bytes / images : NAN;
}

/*
 * The correlation of the order of the newest rows in the index with that of
 * age, without its sign; rows at the same place have the mean of their ranks.
 */
static double
correlation(const NewRows *rows, int count)
{
	NewRow	  **sorted = sort_by_leaf(rows, count);
	double		mean = (count - 1) / 2.0;
	double		sum = 0;
	double		square_rank = 0;
	double		square_age = 0;

	for (int i = 0, n; i < count; i += n)
	{
		double		rank;

		for (n = 1; i + n < count && compare_paths(&sorted[i + n], &sorted[i]) == 0; n++)
			;
		rank = i + (n - 1) / 2.0 - mean;
		for (int k = i; k < i + n; k++)
		{
			double		age = (sorted[k] - rows->rows) - mean;

			sum += rank * age;
			square_rank += rank * rank;
			square_age += age * age;
		}
	}
	pfree(sorted);
	return square_rank > 0 ? fabs(sum) / sqrt(square_rank * square_age) : NAN;
}

/* The number of different leaf pages that random rows are on. */
static double
leaf_pages_of_random(double rows, const LeafSample *sample)
{
	return -expm1(-rows / sample->leaf_pages) * sample->leaf_pages;
}

/*
 * The leaf pages of n random rows are a share 1 - exp(-n / leaf_pages) of all.
 * The placement follows from the number of leaf pages that the newest rows are
 * on, compared with that, and from whether the leaf pages ascend or descend
 * with the age of the rows.
 */
static Placement
place(const NewRows *rows, int count, int leaf_pages, const LeafSample *sample,
	  IndexPages *pages)
{
	double		share = leaf_pages / leaf_pages_of_random(count, sample);
	int			sampled = 0;

	if (leaf_pages <= FEW_LEAVES)
		find_offsets(rows, count, pages);
	for (int i = 0; i < count; i++)
		sampled += rows->rows[i].is_sampled;
	/* if the keys continue in many places, only a larger number of rows meets them again */
	share = Min(share, count_leaves(rows, rows->count) / leaf_pages_of_random(rows->count, sample));
	if (correlation(rows, count) >= ORDERED_CORRELATION)
		return share < SCATTERED_SHARE ? PLACEMENT_ORDERED : PLACEMENT_UNKNOWN;
	if (share >= SCATTERED_SHARE)
		return PLACEMENT_SCATTERED;
	/* of rows that are few of all new ones, the leaf pages are too many */
	if (sampled > FILLING_SHARE * count)
		return PLACEMENT_UNKNOWN;
	return share < LOCAL_SHARE ? PLACEMENT_LOCAL : PLACEMENT_MIXED;
}

/*
 * The full-page images of the rows of a checkpoint interval.  A leaf page that
 * a split made needs none, but a split also changes the page above and the next
 * leaf, which is the last one of a group for as many splits as there are groups
 * among the leaf pages.  For more rows than were located, the number of leaf
 * pages is extrapolated by the power that the halves of the newest rows suggest.
 */
static double
expected_images(const NewRows *rows, Placement placement, const LeafSample *sample, double inserts)
{
	double		of_random = leaf_pages_of_random(inserts, sample);
	int			count = Min(rows->count, inserts);
	double		splits = count * sample->leaf_pages / sample->rows;
	double		leaves;
	double		power;

	if (placement == PLACEMENT_SCATTERED)
		return of_random;
	if (placement == PLACEMENT_ORDERED)
		return 1 + Min(inserts * sample->leaf_pages / sample->rows, 1);
	if (placement == PLACEMENT_UNKNOWN)
		return NAN;

	leaves = count_leaves(rows, count);
	power = log2(leaves / Max(count_leaves(rows, count / 2), 1));
	leaves = Max(leaves - splits, 1) + splits * count_groups(rows, count, 1) / leaves +
		Min(splits, 2);
	return Min(leaves * pow(inserts / count, Min(power, 1)), of_random);
}

/* Describe the newest rows; pages are those in which they were located. */
NewestRows
describe_rows(const NewRows *rows, IndexPages *pages, const LeafSample *sample,
			  double rows_per_checkpoint)
{
	NewestRows	newest = {.images = NAN, .image_bytes = NAN};

	newest.located = Min(rows->count, Max(LEAST_ROWS, sample->leaf_pages / SHARE_OF_LEAVES));
	newest.leaf_pages = count_leaves(rows, newest.located);
	if (newest.located < LEAST_ROWS)
		return newest;
	newest.placement = place(rows, newest.located, newest.leaf_pages, sample, pages);
	if (rows_per_checkpoint >= 1)
		newest.images = expected_images(rows, newest.placement, sample, rows_per_checkpoint);
	newest.image_bytes = measure_images(rows, newest.located, pages);
	return newest;
}
