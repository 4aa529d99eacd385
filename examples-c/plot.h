/* Small SVG pictures: panels below each other, one colour and one sign for each series. */
#ifndef PLOT_H
#define PLOT_H

#include "example.h"

typedef struct plot_series {
  const char *name, *colour;
  const double *values; /* what is not finite is left out */
  int count;
  const double *at; /* where they stand across; NULL: 0, 1, 2, ... */
  const double *errors; /* bars; NULL: none, and none where one is not finite */
  /* A band, mean - error to mean + error, from the value number `first`; error 0: none. */
  double mean, error;
  int first;
} plot_series;

typedef struct plot_panel {
  const char *title, *across, *up;
  const plot_series *series;
  int count;
} plot_panel;

/* A history that grows. */
typedef struct plot_points {
  double *at, *values;
  int count, room;
} plot_points;

static inline void plot_add(plot_points *p, double at, double value) {
  if (p->count == p->room) {
    p->room = p->room ? 2 * p->room : 256;
    p->at = realloc(p->at, (size_t)p->room * sizeof *p->at);
    p->values = realloc(p->values, (size_t)p->room * sizeof *p->values);
    if (!p->at || !p->values) usage_error("memory", "exhausted");
  }
  p->at[p->count] = at;
  p->values[p->count++] = value;
}

static inline plot_series plot_history(const char *name, const char *colour, const plot_points *p) {
  plot_series s = {name, colour, p->values, p->count, p->at, NULL, 0, 0, 0};
  return s;
}

static inline void plot_free(plot_points *p) {
  free(p->at);
  free(p->values);
}

/* A round step of which about five fit into the range. */
static inline double plot_step(double range) {
  double step = pow(10, floor(log10(range / 5)));
  if (range / step > 25) return 5 * step;
  if (range / step > 10) return 2 * step;
  return step;
}

/* Text inside of XML. */
static inline void plot_text(FILE *f, const char *text) {
  for (; *text; text++) {
    if (*text == '<') fputs("&lt;", f);
    else if (*text == '&') fputs("&amp;", f);
    else fputc(*text, f);
  }
}

enum { PLOT_WIDTH = 640, PLOT_HEIGHT = 400, PLOT_LEFT = 72, PLOT_RIGHT = 16, PLOT_TOP = 36, PLOT_BOTTOM = 48 };

/* Bars as long as their value or longer leave the range as it is and end at the frame. */
static inline double plot_bar(const plot_series *s, int i) {
  double error = s->errors ? s->errors[i] : NAN;
  return isfinite(error) && isfinite(s->values[i]) ? error : 0;
}

static inline double plot_place(const plot_series *s, int i) { return s->at ? s->at[i] : i; }

/* A panel in a frame of its own. Up it begins at 0 unless the values lie close together far from it. */
static inline void plot_draw(FILE *f, const plot_panel *p) {
  const int end = PLOT_HEIGHT - PLOT_BOTTOM, last = PLOT_WIDTH - PLOT_RIGHT;
  double low = INFINITY, high = -INFINITY, from = INFINITY, to = -INFINITY, step, tick, sx, sy;
  int k, i, index = 1, most = 0;
  for (k = 0; k < p->count; k++) {
    const plot_series *s = p->series + k;
    if (s->at) index = 0;
    if (s->count > most) most = s->count;
    for (i = 0; i < s->count; i++)
      if (isfinite(s->values[i])) {
        double bar = plot_bar(s, i) < fabs(s->values[i]) ? plot_bar(s, i) : 0;
        low = fmin(low, s->values[i] - bar), high = fmax(high, s->values[i] + bar);
        from = fmin(from, plot_place(s, i)), to = fmax(to, plot_place(s, i));
      }
  }
  if (!(high >= low)) low = high = from = to = 0;
  if (high - low > 0.2 * fmax(fabs(high), fabs(low)) || high == low) low = fmin(low, 0), high = fmax(high, 0);
  if (high <= low) high = low + 1;
  step = 0.1 * (high - low);
  high += step;
  if (low != 0) low -= step;
  if (index) from = -0.5, to = (most > 1 ? most : 2) - 0.5;
  if (to <= from) to = from + 1;
  sx = (last - PLOT_LEFT) / (to - from);
  sy = (end - PLOT_TOP) / (high - low);
  fprintf(f, "<text x=\"%d\" y=\"20\">", PLOT_LEFT);
  plot_text(f, p->title);
  fprintf(f, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (PLOT_LEFT + last) / 2, PLOT_HEIGHT - 10);
  plot_text(f, p->across);
  fprintf(f, "</text>\n<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">", (PLOT_TOP + end) / 2);
  plot_text(f, p->up);
  fprintf(f, "</text>\n");
  step = plot_step(high - low);
  for (tick = ceil(low / step) * step; tick <= high; tick += step) {
    double y = end - (tick - low) * sy;
    fprintf(f, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
            PLOT_LEFT, y, last, PLOT_LEFT - 6, y + 4, fabs(tick) < 1e-9 * step ? 0 : tick);
  }
  step = plot_step(to - from);
  if (index && step < 1) step = 1;
  for (tick = ceil(from / step) * step; tick <= to; tick += step)
    fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n", PLOT_LEFT + (tick - from) * sx, end + 18,
            fabs(tick) < 1e-9 * step ? 0 : tick);
  fprintf(f, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"black\"/>\n", PLOT_LEFT, PLOT_TOP, end, last);
  for (k = 0; k < p->count; k++) {
    const plot_series *s = p->series + k;
    const double r = s->count > 60 ? 1.5 : 4;
    if (s->error > 0 && s->first < s->count) {
      double left = PLOT_LEFT + (plot_place(s, s->first) - from) * sx, top = fmin(s->mean + s->error, high);
      double height = fmax((top - fmax(s->mean - s->error, low)) * sy, 1);
      fprintf(f, "<path class=\"mean\" d=\"M%.1f %.1fH%dv%.1fH%.1fz\" fill=\"%s\" fill-opacity=\"0.3\"/>\n", left,
              end - (top - low) * sy, last, height, left, s->colour);
    }
    for (i = 0; i < s->count; i++) {
      double x = PLOT_LEFT + (plot_place(s, i) - from) * sx, y = end - (s->values[i] - low) * sy;
      if (!isfinite(s->values[i])) continue;
      if (plot_bar(s, i) > 0) {
        double top = end - (fmin(s->values[i] + plot_bar(s, i), high) - low) * sy;
        double bottom = end - (fmax(s->values[i] - plot_bar(s, i), low) - low) * sy;
        fprintf(f, "<path class=\"error\" d=\"M%.1f %.1fh6m-3 0V%.1fm-3 0h6\" fill=\"none\" stroke=\"%s\"/>\n", x - 3, top, bottom,
                s->colour);
      }
      if (k % 3 == 0) fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", x, y, r, s->colour);
      if (k % 3 == 1) fprintf(f, "<path d=\"M%.1f %.1fh%gv%gh-%gz\" fill=\"%s\"/>\n", x - r, y - r, 2 * r, 2 * r, 2 * r, s->colour);
      if (k % 3 == 2) fprintf(f, "<path d=\"M%.1f %.1fl%g %gh-%gz\" fill=\"%s\"/>\n", x, y - 1.2 * r, 1.2 * r, 2.2 * r, 2.4 * r, s->colour);
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"end\">", last - 8, PLOT_TOP + 14 + 18 * k, s->colour);
    plot_text(f, s->name);
    fprintf(f, "</text>\n");
  }
}

/* Average of (v_i - mean) (v_(i+t) - mean). */
static inline double covariance(const double *v, int n, double mean, int t) {
  double sum = 0;
  int i;
  for (i = 0; i + t < n; i++) sum += (v[i] - mean) * (v[i + t] - mean);
  return sum / (n - t);
}

/* Mean of a history, its error and the integrated autocorrelation time, tau = 1/2 + sum_t rho(t): the sum ends
 * where t >= 6 tau (Madras and Sokal, J. Stat. Phys. 50, 109), the error is sqrt(2 tau var / n). Below twenty values, or
 * where the window does not close within a quarter of them, the error is NaN. */
typedef struct history_mean {
  double mean, error, tau;
} history_mean;

static inline history_mean mean_of_history(const double *v, int n) {
  history_mean m = {0, NAN, 0.5};
  double variance;
  int i, t;
  for (i = 0; i < n; i++) m.mean += v[i] / n;
  variance = n ? covariance(v, n, m.mean, 0) : 0;
  if (n < 20 || !(variance > 0)) return m;
  for (t = 1; t <= n / 4; t++) {
    m.tau = fmax(m.tau + covariance(v, n, m.mean, t) / variance, 0.5);
    if (t >= 6 * m.tau) {
      m.error = sqrt(2 * m.tau * variance / n);
      return m;
    }
  }
  return m;
}

/* rho(t) of a history for t to a quarter of its length, at most 100; without a variance it is empty. */
static inline plot_points autocorrelation(const plot_points *p) {
  plot_points rho = {0};
  double mean = 0, variance;
  int i, t;
  for (i = 0; i < p->count; i++) mean += p->values[i] / p->count;
  variance = p->count ? covariance(p->values, p->count, mean, 0) : 0;
  if (!(variance > 0)) return rho;
  for (t = 0; t <= p->count / 4 && t <= 100; t++) plot_add(&rho, t, covariance(p->values, p->count, mean, t) / variance);
  return rho;
}

/* Before the work: that a picture may be written, and is called what it is. */
static inline void check_plot(const char *name, int overwrite) {
  size_t n = strlen(name);
  if (n && (n < 4 || strcmp(name + n - 4, ".svg"))) refuse("--plot", name, "a name that ends in .svg");
  check_output(name, overwrite);
}

static inline void plot_page(const char *file, const plot_panel *panels, int count) {
  FILE *f = begin_file(file);
  int k;
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          PLOT_WIDTH, count * PLOT_HEIGHT, PLOT_WIDTH, count * PLOT_HEIGHT);
  for (k = 0; k < count; k++) {
    fprintf(f, "<g transform=\"translate(0 %d)\">\n", k * PLOT_HEIGHT);
    plot_draw(f, panels + k);
    fprintf(f, "</g>\n");
  }
  fprintf(f, "</svg>\n");
  end_file(f, file);
}

/* A page of one panel. */
static inline void plot_write(const char *file, const char *title, const char *across, const char *up,
                              const plot_series *series, int count) {
  plot_panel p;
  p.title = title, p.across = across, p.up = up, p.series = series, p.count = count;
  plot_page(file, &p, 1);
}

#endif
