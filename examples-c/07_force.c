/* The force of the Wilson gauge action against a difference of the action: links move along momenta by a small step.
 * test:
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(void) {
  plaq_context context;
  plaq_gauge gauge, moved;
  plaq_momentum force, along;
  double step = 1e-4, actions[2], kinetic[3];
  int side;
  PLAQ_INIT(plaq_gauge_params, shape);
  PLAQ_INIT(plaq_gauge_action_params, action);
  OK(plaq_context_create(NULL, &context));
  for (side = 0; side < 4; side++) shape.extents[side] = 4;
  OK(plaq_gauge_create(context, &shape, &gauge));
  OK(plaq_gauge_create(context, &shape, &moved));
  OK(plaq_gauge_warm(gauge, 7, 0.5));
  action.beta = 5.7;
  OK(plaq_momentum_create(gauge, &force));
  OK(plaq_momentum_create(gauge, &along));
  OK(plaq_momentum_gaussian(along, 3, 0));
  OK(plaq_momentum_gaussian(force, 4, 0));
  OK(plaq_momentum_add(force, 0, along, 0));
  OK(plaq_gauge_force(gauge, &action, force, -1, NULL)); /* 0 + F */
  OK(plaq_momentum_kinetic(force, &kinetic[0]));
  OK(plaq_momentum_kinetic(along, &kinetic[1]));
  OK(plaq_momentum_add(force, 1, along, 1)); /* the product follows from the square of the sum */
  OK(plaq_momentum_kinetic(force, &kinetic[2]));
  for (side = 0; side < 2; side++) {
    OK(plaq_gauge_copy(gauge, moved));
    OK(plaq_gauge_evolve(moved, along, side ? -step : step));
    OK(plaq_gauge_action(moved, &action, &actions[side]));
  }
  double product = kinetic[2] - kinetic[0] - kinetic[1], slope = (actions[0] - actions[1]) / (2 * step);
  printf("dS/dt by the force %.6f, by differences %.6f\n", product, slope);
  if (product - slope > 1e-3 || slope - product > 1e-3) return 3;
  return plaq_context_destroy(context);
}
