import { Controller, Inject, Req, Res, type Type, UseFilters, VERSION_NEUTRAL } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { MetadataScanner } from '@nestjs/core';
import type { GuardStructure } from '../../foundation/config/auth-options';
import { trimSlashes } from '../../foundation/config/core-options';
import { AuthExceptionFilter } from './error.filter';
import { RouteHandlers } from './route-answer';
import { argumentsOf } from './request-body';
import { declarationOf } from '../gates/request-log';
import { GuardName, Mounted } from '../../foundation/realm/feature';

/** Mounts a controller for one realm: with its route prefix, its guard, and the error format of the library. */
export function mount(controller: Type, guard: string, { path: prefix = '', domain }: GuardStructure): Type {
  const path: string = Reflect.getMetadata(PATH_METADATA, controller);
  const mounted = { [controller.name]: class extends controller {} }[controller.name] as Type;
  const below = `${trimSlashes(prefix)}/${trimSlashes(path)}`;
  Controller({ path: below, host: domain ?? undefined, version: VERSION_NEUTRAL })(mounted);
  for (const decorate of [GuardName(guard), Mounted(true), UseFilters(AuthExceptionFilter)]) decorate(mounted);
  Inject(RouteHandlers)(mounted.prototype as object, HANDLERS);
  for (const name of new MetadataScanner().getAllMethodNames(controller.prototype as object)) handle(mounted, name);
  return mounted;
}

const HANDLERS = Symbol('svc.handlers');

type Handler = (...args: unknown[]) => unknown;

/**
 * Lets {@link RouteHandlers} run a handler of a mounted controller. Nest reads the decorators of a handler from the function, so
 * they are copied, and passes the request and the response after the arguments of the handler.
 */
function handle(mounted: Type<object>, name: string): void {
  const prototype = mounted.prototype as Record<string, Handler>;
  const handler = prototype[name]!;
  const route = declarationOf(handler);
  if (!route) return;
  const parameters = argumentsOf(mounted, name);
  const count = Math.max(0, ...parameters.map(([, { index }]) => index + 1));
  // Nest writes the answer, unless the handler has the response and writes it itself.
  const passthrough = !parameters.some(([kind]) => kind.startsWith(`${RouteParamtypes.RESPONSE}:`));
  Req()(prototype, name, count);
  Res({ passthrough })(prototype, name, count + 1);
  const { [name]: handling } = {
    [name](this: Record<symbol, RouteHandlers>, ...args: unknown[]): Promise<unknown> {
      const [request, response] = args.splice(count) as [object, unknown];
      return this[HANDLERS]!.answer(route, request, response, () => handler.apply(this, args));
    },
  };
  for (const key of Reflect.getOwnMetadataKeys(handler))
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, handler), handling!);
  prototype[name] = handling!;
}
