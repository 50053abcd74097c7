import { UseGuards, applyDecorators } from '@nestjs/common';
import { type GateType, Gates } from './gate';
import { RouteGuard } from './route.guard';

/**
 * Puts gates before a route or a controller. Nest runs guards in the order decorators were applied,
 * so every gate decorator brings the one {@link RouteGuard}, which passes all gates in their fixed order.
 */
export const requires = (...gates: GateType[]): ClassDecorator & MethodDecorator =>
  applyDecorators(Gates.with(...gates), UseGuards(RouteGuard));
