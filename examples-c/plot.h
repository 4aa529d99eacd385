/* Small SVG pictures: panels below each other, one colour and one sign for each series. */
#ifndef PLOT_H
#define PLOT_H

#include "example.h"

typedef struct plot_series {
  const char *name, *colour;
  const double *values; /* what is not finite is left out */
  int count;
  const double *at; /* where they stand across; NULL: 0, 1, 2, ... */
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
  plot_series s;
  s.name = name, s.colour = colour, s.values = p->values, s.count = p->count, s.at = p->at;
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
        low = fmin(low, s->values[i]), high = fmax(high, s->values[i]);
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
    for (i = 0; i < s->count; i++) {
      double x = PLOT_LEFT + (plot_place(s, i) - from) * sx, y = end - (s->values[i] - low) * sy;
      if (!isfinite(s->values[i])) continue;
      if (k % 3 == 0) fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", x, y, r, s->colour);
      if (k % 3 == 1) fprintf(f, "<path d=\"M%.1f %.1fh%gv%gh-%gz\" fill=\"%s\"/>\n", x - r, y - r, 2 * r, 2 * r, 2 * r, s->colour);
      if (k % 3 == 2) fprintf(f, "<path d=\"M%.1f %.1fl%g %gh-%gz\" fill=\"%s\"/>\n", x, y - 1.2 * r, 1.2 * r, 2.2 * r, 2.4 * r, s->colour);
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"end\">", last - 8, PLOT_TOP + 14 + 18 * k, s->colour);
    plot_text(f, s->name);
    fprintf(f, "</text>\n");
  }
}

/* Appears complete or not at all: written beside its place first. */
static inline void plot_page(const char *file, const plot_panel *panels, int count) {
  char *part = malloc(strlen(file) + 6);
  FILE *f;
  int k;
  if (!part) usage_error("memory", "exhausted");
  sprintf(part, "%s.part", file);
  f = open_file(part, "w");
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          PLOT_WIDTH, count * PLOT_HEIGHT, PLOT_WIDTH, count * PLOT_HEIGHT);
  for (k = 0; k < count; k++) {
    fprintf(f, "<g transform=\"translate(0 %d)\">\n", k * PLOT_HEIGHT);
    plot_draw(f, panels + k);
    fprintf(f, "</g>\n");
  }
  fprintf(f, "</svg>\n");
  close_file(f, part);
  if (rename(part, file)) {
    perror(file);
    exit(1);
  }
  free(part);
}

/* A page of one panel. */
static inline void plot_write(const char *file, const char *title, const char *across, const char *up,
                              const plot_series *series, int count) {
  plot_panel p;
  p.title = title, p.across = across, p.up = up, p.series = series, p.count = count;
  plot_page(file, &p, 1);
}

#endif
