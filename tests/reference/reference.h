/* The reference of the tests for programs in C and Python. Complex numbers are two doubles; sites are numbered
 * x + X (y + Y (z + Z t)). On each site links have [direction][row][column], spinors [spin][colour] in the basis of
 * DeGrand and Rossi, and site terms [chirality][row][column], chirality 0 of gamma5 = 1 first, with rows and columns
 * 3 (spin of that chirality) + colour. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, csw_t in planes with t, + i mu gamma5. */
typedef struct {
  double mass, csw, csw_t, mu;
  double hop[4];
  /* Phases of modulus 1 with which psi(x + L mu) = boundary[mu] psi(x). */
  double boundary[4][2];
  /* Whether the clover term is (m + sum h) exp(csw / (m + sum h) (i/4) sum sigma F). */
  int32_t exponential;
} reference_quark;

/* gamma_x, gamma_y, gamma_z, gamma_t and gamma5, each [row][column]. */
void reference_gammas(double *gamma);
/* The clover term csw (i/4) sum sigma F of every site. */
void reference_clover(const int32_t *extents, const double *links, double csw, double *blocks);
/* The inverse of each of `count` blocks: two for each site. */
void reference_inverse(size_t count, const double *blocks, double *out);
/* out = A psi - kappa H psi for site terms A, with boundary phases in the links. */
void reference_apply(const int32_t *extents, const double *links, const double *blocks, double kappa,
                     const double *psi, double *out);
/* out = D psi. */
void reference_dirac(const int32_t *extents, const double *links, const reference_quark *quark, const double *psi,
                     double *out);
/* Solves D x = b for several columns until the residual of the iteration is tol |b|; ends the program if |b - D x| is
   above 100 times that. */
void reference_solve(const int32_t *extents, const double *links, const reference_quark *quark, double tol,
                     size_t columns, const double *b, double *x);
/* Average plaquettes Re tr U / 3 in space and with t. */
void reference_plaquettes(const int32_t *extents, const double *links, double *spatial, double *temporal);
/* The average over space of tr (product of the links in t) / 3. */
void reference_polyakov(const int32_t *extents, const double *links, double *loop);
/* The product of the links along `length` steps from a site, 0 to 3 forward and 7 - mu back; returns where they end. */
int32_t reference_path(const int32_t *extents, const double *links, int32_t site, const int32_t *steps, size_t length,
                       double *product);
/* F = (Q - Q^dagger) / 8 of the four plaquettes around each site in a plane, [site][row][column]. */
void reference_field_strength(const int32_t *extents, const double *links, int32_t mu, int32_t nu, double *f);
/* The density of the topological charge of F with its trace. */
void reference_charge(const int32_t *extents, const double *links, double *density);
/* Rules of smearing and their parameters: alpha; rho; alpha of three levels; rho and epsilon. */
enum { REFERENCE_APE = 0, REFERENCE_STOUT = 1, REFERENCE_HYP = 2, REFERENCE_OVERIMPROVED = 3 };
/* One step of smearing in the directions mu of which bit mu of the mask is set. */
void reference_smear(const int32_t *extents, const double *links, int32_t rule, const double *alpha,
                     int32_t directions, double *out);
/* [(1 + alpha sum (U + U^dagger)) / (1 + 2 d alpha)]^steps psi with neighbours in the d directions of the mask. */
void reference_smear_spinor(const int32_t *extents, const double *links, double alpha, size_t steps,
                            int32_t directions, const double *psi, double *out);

#ifdef __cplusplus
}
#endif

#endif
