import { createRequire } from 'node:module';

/** An optional peer's exports, or undefined where the host has not installed it. */
export function optionalPeer<Exports>(name: string, required = createRequire(__filename)): Exports | undefined {
  try {
    return required(name) as Exports;
  } catch (error) {
    // One that is there and does not load says why.
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

/** Whether the host has installed an optional peer, which is not loaded for that. */
export function hasPeer(name: string): boolean {
  try {
    return Boolean(createRequire(__filename).resolve(name));
  } catch {
    return false;
  }
}

/** A package that an optional peer brings along. */
export function broughtBy<Exports>(peer: string, name: string): Exports | undefined {
  const required = createRequire(__filename);
  try {
    return optionalPeer(name, createRequire(required.resolve(peer)));
  } catch {
    return undefined;
  }
}
