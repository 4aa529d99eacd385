// The clover term's part of fermion forces, in two steps. First per site and plane the hermitian
//   K_munu = c_munu / 4 sum_k c_k tr_spin sigma_munu (X_k Y_k^dagger + Y_k X_k^dagger) / 2,  c_munu = 2 kappa csw,
// with Y^dagger sigma X for its trace, and from c ln det the same with c A^-1 for X Y^dagger. Then
//   sum_k 2 c_k Re <Y_k, dA X_k> = sum over sites and planes of Re tr(dQ_munu i K_munu)
// for the sum Q of the four leaves (leaves.h): each plaquette of a link takes i K from its corners.
#pragma once
#include "clover.h"
#include "fermion_force.h"

namespace PLAQ_NS {

// Two of the six hermitian matrices are stored in the space of one whole matrix.
constexpr int insertion_reals = 54;
// xy, xz, xt, yz, yt, zt
PLAQ_FN int plane_number(int mu, int nu) { return mu == 0 ? nu - 1 : mu + nu; }

// Real diagonal, then the elements (1,0), (2,0), (2,1).
template <class R> struct Insertion {
  R v[9];
};

// z + K_ij a, z + a K_ij of a hermitian K
template <class R> PLAQ_FN cplx<R> madd_element(cplx<R> z, const Insertion<R>& k, int i, int j, cplx<R> a) {
  if (i == j) return madd(z, k.v[i], a);
  const int n = 3 + 2 * (i + j - 1);
  const cplx<R> e = {k.v[n], k.v[n + 1]};
  return i > j ? madd(z, e, a) : madd_conj(z, e, a);
}
// acc += a b
template <class R> PLAQ_FN void add_product(Su3<R>& acc, const Insertion<R>& a, const Su3<R>& b) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) PLAQ_UNROLL for (int l = 0; l < 3; l++)
    acc.e[i][j] = madd_element(acc.e[i][j], a, i, l, b.e[l][j]);
}
template <class R> PLAQ_FN void add_product(Su3<R>& acc, const Su3<R>& a, const Insertion<R>& b) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) PLAQ_UNROLL for (int l = 0; l < 3; l++)
    acc.e[i][j] = madd_element(acc.e[i][j], b, l, j, a.e[i][l]);
}
template <class R> PLAQ_FN void add_product(Su3<R>& acc, const Su3<R>& a, const Su3<R>& b) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) PLAQ_UNROLL for (int l = 0; l < 3; l++)
    acc.e[i][j] = madd(acc.e[i][j], a.e[i][l], b.e[l][j]);
}

// h += f (a b^dagger + b a^dagger) / 2
template <class R> PLAQ_FN void add_symmetric(Insertion<R>& h, R f, const cplx<R> (&a)[3], const cplx<R> (&b)[3]) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) h.v[i] = fma_(f, add_products(a[i].re, b[i].re, a[i].im, b[i].im), h.v[i]);
  const R half = splat<R>(0.5) * f;
  PLAQ_UNROLL for (int k = 0; k < 3; k++) {
    const int i = k ? 2 : 1, j = k == 2;
    const cplx<R> z = mul_conj(b[j], a[i]) + mul_conj(a[j], b[i]);
    h.v[3 + 2 * k] = fma_(half, z.re, h.v[3 + 2 * k]), h.v[4 + 2 * k] = fma_(half, z.im, h.v[4 + 2 * k]);
  }
}

// Computes K of all planes. With e = +-1 the chirality, sigma_yz, sigma_xz, sigma_xy are the Pauli
// matrices 1, 2, 3, and sigma_xt, sigma_yt, sigma_zt are -e, e, -e times these.
template <int W, class S> struct CloverInsertion {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverInsertionArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    Insertion<R> t[2][3] = {};
    for (int k = 0; k < a.nrhs(); k++) {
      const R c = splat<R>(a.coef[k]);
      PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
        cplx<R> p[2][3], q[2][3], turned[3];
        load_chirality(p, plane(a.x, 2 * k + parity), x, ch);
        load_chirality(q, plane(a.y, 2 * k + parity), x, ch);
        add_symmetric(t[ch][0], c, p[1], q[0]), add_symmetric(t[ch][0], c, p[0], q[1]);
        PLAQ_UNROLL for (int i = 0; i < 3; i++) turned[i] = {p[1][i].im, -p[1][i].re};
        add_symmetric(t[ch][1], c, turned, q[0]);
        PLAQ_UNROLL for (int i = 0; i < 3; i++) turned[i] = {-p[0][i].im, p[0][i].re};
        add_symmetric(t[ch][1], c, turned, q[1]);
        add_symmetric(t[ch][2], c, p[0], q[0]), add_symmetric(t[ch][2], -c, p[1], q[1]);
      }
    }
    if (a.with_blocks() >> parity & 1) {
      R b[2][36];
      load_blocks<S>(b, plane(parity ? a.odd : a.even, parity), x);
      PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) add_blocks(t[ch], b[ch], splat<R>(a.coef_blocks[parity]));
    }
    store_planes(a, x, parity, t);
  }
  // Stores K of all planes, made of the traces t of both chiralities with the Pauli matrices, or adds it.
  static PLAQ_FN void store_planes(const CloverInsertionArgs& a, const Site& x, int parity, const Insertion<R> (&t)[2][3]) {
    const R cs = splat<R>(a.coef_s), ct = splat<R>(a.coef_t);
    // Matrices 2 n and 2 n + 1 by plane; for each its Pauli matrix, and whether its plane contains t.
    PLAQ_UNROLL for (int n = 0; n < 3; n++) {
      R v[18];
      PLAQ_UNROLL for (int half = 0; half < 2; half++) {
        const int number = 2 * n + half, pauli = number == 0 || number == 5 ? 2 : number == 1 || number == 4 ? 1 : 0;
        const bool timelike = number == 2 || number >= 4;
        const R c = !timelike ? cs : pauli == 1 ? ct : -ct;
        PLAQ_UNROLL for (int i = 0; i < 9; i++) {
          const R first = t[0][pauli].v[i], second = t[1][pauli].v[i];
          v[9 * half + i] = c * (timelike ? first - second : first + second);
        }
      }
      if (a.add()) {
        R before[18];
        load_raw<S>(before, plane(a.out, parity), link_site(x), insertion_reals, 18 * n, keep);
        PLAQ_UNROLL for (int i = 0; i < 18; i++) v[i] = v[i] + before[i];
      }
      store_raw<S>(v, plane(a.out, parity), link_site(x), insertion_reals, 18 * n);
    }
  }
  static PLAQ_FN void load_chirality(cplx<R> (&c)[2][3], const Plane& p, const Site& x, int ch) {
    R v[12];
    load_raw<S>(v, p, x, 24, 12 * ch, keep);
    PLAQ_UNROLL for (int i = 0; i < 6; i++) c[i / 3][i % 3] = {v[2 * i], v[2 * i + 1]};
  }
  // t += f tr_spin(sigma B) of a packed hermitian block
  static PLAQ_FN void add_blocks(Insertion<R> (&t)[3], const R (&b)[36], R f) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      const int p = lower(3 + i, i);
      t[0].v[i] = fma_(f + f, b[p], t[0].v[i]), t[1].v[i] = fma_(f + f, b[p + 1], t[1].v[i]);
      t[2].v[i] = fma_(f, b[i] - b[3 + i], t[2].v[i]);
    }
    PLAQ_UNROLL for (int k = 0; k < 3; k++) {
      const int i = k ? 2 : 1, j = k == 2;
      const cplx<R> down = element(b, 3 + i, j), up = conj(element(b, 3 + j, i));
      const cplx<R> one = down + up, two = up - down, three = element(b, i, j) - element(b, 3 + i, 3 + j);
      const cplx<R> z[3] = {one, {-two.im, two.re}, three};
      PLAQ_UNROLL for (int m = 0; m < 3; m++) {
        t[m].v[3 + 2 * k] = fma_(f, z[m].re, t[m].v[3 + 2 * k]);
        t[m].v[4 + 2 * k] = fma_(f, z[m].im, t[m].v[4 + 2 * k]);
      }
    }
  }
};

// p -= step F with, per direction nu of a link's six plaquettes, corners a = x, b = x+mu, c and d:
//   U G = i sum_nu +-U_mu(a) { [(K_b V + V K_c) W + V W K_d] Z + V W Z K_a },
// V, W, Z the links from b to c, c to d, d to a; minus for plaquettes below. K_numu = -K_munu.
template <int W, class S, int RECON> struct CloverForce {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void load_insertion(Insertion<R>& k, const CloverForceArgs& a, const Site& s, int number) {
    // Ten reals from an even position: a GPU moves pairs at once.
    const int odd = number & 1;
    R w[10];
    load_raw<S>(w, plane(a.insertion, s.par), link_site(s), insertion_reals, 9 * number - odd, keep);
    PLAQ_UNROLL for (int i = 0; i < 9; i++) k.v[i] = odd ? w[i + 1] : w[i];
  }
  static PLAQ_FN void load(Su3<R>& u, const CloverForceArgs& a, const Site& s, int mu) {
    load_link<S, RECON>(u, plane(a.gauge, s.par), s, mu);
  }
  // Loads a link of s, which is reached from x by steps of which one is in direction `along`.
  static PLAQ_FN void load(Su3<R>& u, const CloverForceArgs& a, const Site& s, int mu, const Site& x, int along) {
    load(u, a, s, mu);
    if (along == 3) put_edge(u, a.bounds, a.geom, x, mu);
  }
  static PLAQ_FN void site(const CloverForceArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    for (int mu = 0; mu < 4; mu++) {
      const Site b = neighbour(a.geom, x, mu, true);
      Su3<R> sum = {};
      for (int nu = 0; nu < 4; nu++) {
        if (nu == mu) continue;
        const int number = mu < nu ? plane_number(mu, nu) : plane_number(nu, mu);
        for (int side = 0; side < 2; side++) {
          const bool up = side == 0;
          const Site c = neighbour(a.geom, b, nu, up), d = neighbour(a.geom, x, nu, up);
          Su3<R> v, w, z, in = {}, last = {};
          Insertion<R> k;
          load(v, a, up ? b : c, nu, x, mu);
          if (!up) v = adj(v);
          load_insertion(k, a, b, number);
          add_product(in, k, v);
          load_insertion(k, a, c, number);
          add_product(in, v, k);
          load(w, a, d, mu, x, up ? nu : 0);
          w = adj(w);
          v = v * w;
          in = in * w;
          load_insertion(k, a, d, number);
          add_product(in, v, k);
          load(z, a, up ? x : d, nu);
          if (up) z = adj(z);
          in = in * z;
          load_insertion(k, a, x, number);
          add_product(last, z, k);
          add_product(in, v, last);
          R sign = splat<R>(up == (mu < nu) ? 1 : -1);
          // Nothing is below the first slice of boundaries in time.
          if (nu == 3 && !up) sign = time_weight<R>(a.bounds, a.geom, x, true, 1, 1) * sign;
          PLAQ_UNROLL for (int i = 0; i < 9; i++) {
            cplx<R>& to = sum.e[i / 3][i % 3];
            const cplx<R> e = in.e[i / 3][i % 3];
            to = {fnma_(sign, e.im, to.re), fma_(sign, e.re, to.im)};
          }
        }
      }
      Su3<R> u;
      load(u, a, x, mu);
      subtract_force<S>(a.momenta, u * sum, x, mu, a.step);
    }
  }
};

}  // namespace PLAQ_NS
