import type { AbstractHttpAdapter } from '@nestjs/core';
import { routesOfRouter } from './adapter';
import type { TestApp } from './app';

/** The library's mounted routes as `METHOD /path`, sorted. */
export const routesOf = (t: TestApp): string[] =>
  routesOfRouter(t.app.getHttpAdapter() as AbstractHttpAdapter)
    .filter((route) => route.includes('/auth/'))
    .toSorted();
