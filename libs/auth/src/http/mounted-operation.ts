import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { type Operation, operationAt } from '../observability/operations';

/** Paths of the mounted controllers, below their guard's prefix. */
const paths = new WeakMap<object, string>();

/** Remembers where a controller is mounted. */
export const mountedAt = (controller: Type, path: string): void => void paths.set(controller, path);

const operations = new WeakMap<object, Operation | undefined>();

/** What a handler of a mounted controller does; undefined for the host's own. */
export function operationOf(controller: object, handler: object): Operation | undefined {
  const path = paths.get(controller);
  if (path === undefined) return undefined;
  // However often a controller is mounted, its handlers are the same.
  if (!operations.has(handler)) operations.set(handler, read(path, handler));
  return operations.get(handler);
}

function read(path: string, handler: object): Operation | undefined {
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  const below = (Reflect.getMetadata(PATH_METADATA, handler) as string).replace(/^\/$/, '');
  return operationAt(`${method} ${[path, below].filter(Boolean).join('/')}`);
}
