import { Controller, type Type, UseFilters, UseInterceptors, VERSION_NEUTRAL } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import type { GuardStructure } from '../../foundation/config/auth-options';
import { trimSlashes } from '../../foundation/config/core-options';
import { AuthExceptionFilter } from './error.filter';
import { LibraryRouteInterceptor } from './route.interceptor';
import { GuardName, Mounted } from '../../foundation/realm/feature';

/** Mounts a controller for one realm: with its route prefix, its guard, and the error format of the library. */
export function mount(controller: Type, guard: string, { path: prefix = '', domain }: GuardStructure): Type {
  const path: string = Reflect.getMetadata(PATH_METADATA, controller);
  const mounted = { [controller.name]: class extends controller {} }[controller.name] as Type;
  const below = `${trimSlashes(prefix)}/${trimSlashes(path)}`;
  Controller({ path: below, host: domain ?? undefined, version: VERSION_NEUTRAL })(mounted);
  for (const decorate of [
    GuardName(guard),
    Mounted(true),
    UseFilters(AuthExceptionFilter),
    UseInterceptors(LibraryRouteInterceptor),
  ]) {
    decorate(mounted);
  }
  return mounted;
}
