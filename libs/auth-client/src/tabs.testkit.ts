/** The `localStorage` of all tabs. */
export class Storage {
  readonly items = new Map<string, string>();
  isFull = false;
  isRefused = false;

  getItem(name: string): string | null {
    this.check(this.isRefused);
    return this.items.get(name) ?? null;
  }
  setItem(name: string, value: string): void {
    this.check(this.isRefused || this.isFull);
    this.items.set(name, value);
  }
  removeItem(name: string): void {
    this.check(this.isRefused);
    this.items.delete(name);
  }
  private check(isRefusal: boolean): void {
    if (isRefusal) throw new DOMException('', 'QuotaExceededError');
  }
}

/** Web Locks with one name. */
export class Locks {
  isRefused = false;
  /** How many works run. */
  held = 0;
  private last: Promise<unknown> = Promise.resolve();

  /** Holds the lock, as a tab that hangs does. @returns a function that releases it */
  hold(): () => void {
    let release!: () => void;
    this.last = new Promise<void>((resolve) => (release = resolve));
    return release;
  }

  async request<T>(_: string, ...[how, given]: [LockOptions, () => Promise<T>] | [() => Promise<T>]): Promise<T> {
    const [{ signal, steal }, work] = given
      ? [how as LockOptions, given]
      : [{} as LockOptions, how as () => Promise<T>];
    if (this.isRefused) throw new DOMException('Access to the Locks API is denied in this context.', 'SecurityError');
    let isGranted = false;
    const before = steal ? Promise.resolve() : this.last;
    const turn = new Promise<T>((resolve, reject) => {
      signal?.addEventListener('abort', () => isGranted || reject(signal.reason));
      const begin = async () => {
        if (signal?.aborted) return;
        isGranted = true;
        this.held++;
        await work()
          .finally(() => this.held--)
          .then(resolve, reject);
      };
      void before.then(begin);
    });
    this.last = Promise.all([steal ? undefined : before, turn]).catch(() => before);
    return turn;
  }
}

export const define = (name: string, value: unknown) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

const GLOBALS = ['window', 'localStorage', 'navigator'];

/** Makes Node a page. */
export function openPage(): { storage: Storage; locks: Locks; window: EventTarget } {
  const page = { storage: new Storage(), locks: new Locks(), window: new EventTarget() };
  define('window', page.window);
  define('localStorage', page.storage);
  define('navigator', { locks: page.locks });
  return page;
}

export const closePage = (): void => GLOBALS.forEach((name) => define(name, undefined));
