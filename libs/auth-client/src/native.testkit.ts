import { AbortController as OldController, AbortSignal as OldSignal } from 'abort-controller';

// It has no types.
const { Headers: OldHeaders, Request: OldRequest } = require('whatwg-fetch') as typeof globalThis;

/** `SecureStore` of Expo, whose names have only these characters. Each call takes a turn of the event loop. */
export class SecureStore {
  readonly items = new Map<string, string>();
  isRefused = false;

  getItemAsync = (key: string): Promise<string | null> => this.answer(key, () => this.items.get(key) ?? null);
  setItemAsync = (key: string, value: string): Promise<void> => this.answer(key, () => void this.items.set(key, value));
  deleteItemAsync = (key: string): Promise<void> => this.answer(key, () => void this.items.delete(key));

  private async answer<T>(key: string, work: () => T): Promise<T> {
    await new Promise(setImmediate);
    if (this.isRefused) throw new Error('Could not encrypt or decrypt the value');
    if (!/^[\w.-]+$/.test(key)) throw new Error('Invalid key provided to SecureStore.');
    return work();
  }
}

/** What React Native does not have, and Node does. */
const MISSING = [
  'BroadcastChannel',
  'CustomEvent',
  'DOMException',
  'Event',
  'EventTarget',
  'TextDecoder',
  'document',
  'localStorage',
  'location',
  'origin',
];

/** React Native 0.83 in Node, with the packages that it uses: an old AbortController, and the classes of an old `fetch`. */
export function openNative(): () => void {
  const globals = globalThis as unknown as Record<string, unknown>;
  const startTimer = setTimeout;
  const given: Record<string, unknown> = {
    window: globalThis,
    navigator: { product: 'ReactNative' },
    AbortController: OldController,
    AbortSignal: OldSignal,
    Headers: OldHeaders,
    Request: OldRequest,
    // Its timers are numbers. Those that remain must not keep the worker running.
    setTimeout: (...args: Parameters<typeof setTimeout>) => Number(startTimer(...args).unref()),
  };
  for (const name of MISSING) given[name] = undefined;
  const before = Object.keys(given).map((name) => [name, Object.getOwnPropertyDescriptor(globals, name)] as const);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) delete globals[name];
    else Object.defineProperty(globals, name, { value, configurable: true, writable: true });
  }
  return () => {
    for (const [name, descriptor] of before)
      if (descriptor) Object.defineProperty(globals, name, descriptor);
      else delete globals[name];
  };
}
