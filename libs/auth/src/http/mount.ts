import { Controller, type Type, UseFilters, UseInterceptors, VERSION_NEUTRAL } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import type { GuardStructure } from '../config/auth-options';
import { trimSlashes } from '../config/trim-slashes';
import { AuthExceptionFilter } from './auth-exception.filter';
import { mountedAt } from './mounted-operation';
import { OwnRoute } from './own-route.interceptor';
import { GuardName, Mounted } from '../realm/route-metadata';

/** Binds a controller to one realm: its own route prefix and guard, the library's bodies and errors. */
export function mount(controller: Type, guard: string, { path: prefix = '', domain }: GuardStructure): Type {
  const path: string = Reflect.getMetadata(PATH_METADATA, controller);
  const mounted = { [controller.name]: class extends controller {} }[controller.name] as Type;
  Controller({ path: `${trimSlashes(prefix)}/${path}`, host: domain ?? undefined, version: VERSION_NEUTRAL })(mounted);
  for (const decorate of [
    GuardName(guard),
    Mounted(true),
    UseFilters(AuthExceptionFilter),
    UseInterceptors(OwnRoute),
  ]) {
    decorate(mounted);
  }
  mountedAt(mounted, path);
  return mounted;
}
