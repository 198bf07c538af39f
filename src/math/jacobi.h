/* jacobi.h: eigenvalues of small symmetric matrices. */
#ifndef FLR_MATH_JACOBI_H
#define FLR_MATH_JACOBI_H

enum { FLR_JACOBI_MAX = 6 };

/* Turns the symmetric n x n matrix `a` (n <= FLR_JACOBI_MAX, all entries finite) into diagonal
 * form by rotations; the columns of `v` become its eigenvectors, unsorted. RT safe. */
void flr_jacobi(int n, double a[FLR_JACOBI_MAX][FLR_JACOBI_MAX],
                double v[FLR_JACOBI_MAX][FLR_JACOBI_MAX]);

#endif
