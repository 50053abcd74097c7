import { createRequire } from 'node:module';

/** Loads an optional peer dependency. Returns undefined when the host has not installed it. */
export function optionalPeer<Exports>(name: string, required = createRequire(__filename)): Exports | undefined {
  try {
    return required(name) as Exports;
  } catch (error) {
    // An installed package that fails to load is an error, not an absent one.
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

/** Whether the host has installed an optional peer dependency. Does not load it. */
export function hasPeer(name: string): boolean {
  try {
    return Boolean(createRequire(__filename).resolve(name));
  } catch {
    return false;
  }
}

/** Loads `name`, a dependency of the optional peer `peer`. Returns undefined when either is not installed. */
export function broughtBy<Exports>(peer: string, name: string): Exports | undefined {
  const required = createRequire(__filename);
  try {
    return optionalPeer(name, createRequire(required.resolve(peer)));
  } catch {
    return undefined;
  }
}
