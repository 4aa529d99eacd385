/* A small SVG picture: numbers over time, one colour and one sign for each series. */
#ifndef PLOT_H
#define PLOT_H

#include "example.h"

typedef struct plot_series {
  const char *name, *colour;
  const double *values; /* what is not finite is left out */
  int count;
} plot_series;

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

/* Appears complete or not at all: written beside its place first. */
static inline void plot_write(const char *file, const char *title, const char *across, const char *up,
                              const plot_series *series, int count) {
  enum { WIDTH = 640, HEIGHT = 400, LEFT = 64, RIGHT = 16, TOP = 36, BOTTOM = 48 };
  double low = 0, high = 0, step, tick, sx, sy;
  char *part = malloc(strlen(file) + 6);
  int k, t, most = 1;
  FILE *f;
  if (!part) usage_error("memory", "exhausted");
  for (k = 0; k < count; k++)
    for (t = 0; t < series[k].count; t++)
      if (isfinite(series[k].values[t])) {
        if (series[k].values[t] > high) high = series[k].values[t];
        if (series[k].values[t] < low) low = series[k].values[t];
        if (t > most) most = t;
      }
  if (high <= low) high = low + 1;
  high += 0.1 * (high - low);
  step = plot_step(high - low);
  sx = (WIDTH - LEFT - RIGHT) / (most + 1.0);
  sy = (HEIGHT - TOP - BOTTOM) / (high - low);
  sprintf(part, "%s.part", file);
  f = open_file(part, "w");
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
             "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  fprintf(f, "<text x=\"%d\" y=\"20\">", LEFT);
  plot_text(f, title);
  fprintf(f, "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
  plot_text(f, across);
  fprintf(f, "</text>\n<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">", (TOP + HEIGHT - BOTTOM) / 2);
  plot_text(f, up);
  fprintf(f, "</text>\n");
  for (tick = ceil(low / step) * step; tick <= high; tick += step) {
    double y = HEIGHT - BOTTOM - (tick - low) * sy;
    fprintf(f, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n", LEFT, y,
            WIDTH - RIGHT, LEFT - 6, y + 4, fabs(tick) < 1e-9 * step ? 0 : tick);
  }
  for (t = 0; t <= most; t += most > 20 ? (most + 9) / 10 : 1)
    fprintf(f, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", LEFT + (t + 0.5) * sx, HEIGHT - BOTTOM + 18, t);
  fprintf(f, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"black\"/>\n", LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT);
  for (k = 0; k < count; k++) {
    const plot_series *s = series + k;
    for (t = 0; t < s->count; t++) {
      double x = LEFT + (t + 0.5) * sx, y = HEIGHT - BOTTOM - (s->values[t] - low) * sy;
      if (!isfinite(s->values[t])) continue;
      if (k % 3 == 0) fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y, s->colour);
      if (k % 3 == 1) fprintf(f, "<path d=\"M%.1f %.1fh8v8h-8z\" fill=\"%s\"/>\n", x - 4, y - 4, s->colour);
      if (k % 3 == 2) fprintf(f, "<path d=\"M%.1f %.1fl5 9h-10z\" fill=\"%s\"/>\n", x, y - 5, s->colour);
    }
    fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"end\">", WIDTH - RIGHT - 8, TOP + 14 + 18 * k, s->colour);
    plot_text(f, s->name);
    fprintf(f, "</text>\n");
  }
  fprintf(f, "</svg>\n");
  close_file(f, part);
  if (rename(part, file)) {
    perror(file);
    exit(1);
  }
  free(part);
}

#endif
