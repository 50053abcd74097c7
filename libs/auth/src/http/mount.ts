import { Controller, type Type, UseFilters, UseInterceptors, VERSION_NEUTRAL } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import type { GuardStructure } from '../config/auth-options';
import { trimSlashes } from '../config/trim-slashes';
import { AuthExceptionFilter } from './auth-exception.filter';
import { RequestScoping } from './request-scope.interceptor';
import { mountedAt } from './mounted-operation';
import { RequestObserver } from './request-observer';
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
    UseInterceptors(RequestObserver, RequestScoping),
  ]) {
    decorate(mounted);
  }
  mountedAt(mounted, path);
  return mounted;
}
