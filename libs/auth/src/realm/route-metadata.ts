import { Reflector } from '@nestjs/core';

/** The guard whose realm answers a route. Set by `@Authenticated('name')` and on every mounted controller. */
export const GuardName = Reflector.createDecorator<string>();

/** Marks a route that needs no caller. */
export const PublicRoute = Reflector.createDecorator<boolean>();

/** Marks a controller of the library's own. */
export const Mounted = Reflector.createDecorator<boolean>();
