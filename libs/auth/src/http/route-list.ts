/** What decorators say of a route in lists: a handler adds to its controller's, and never replaces it. */
export class RouteList<T> {
  private readonly handlers = new WeakMap<object, Set<PropertyKey>>();

  constructor(private readonly key: string) {}

  /** Adds to a controller class or a handler. Metadata, which a decorator that wraps a handler copies along. */
  add(target: object, items: readonly T[]): void {
    Reflect.defineMetadata(this.key, [...this.on(target), ...items], target);
  }

  /** What is said of one controller class, its base classes included, or of one handler. */
  on(target: object): readonly T[] {
    return Reflect.getMetadata(this.key, target) ?? [];
  }

  /** What is said of one controller class itself, without its base classes. */
  ownOn(target: object): readonly T[] {
    const own: readonly T[] = Reflect.getOwnMetadata(this.key, target) ?? [];
    return own.slice(this.on(Object.getPrototypeOf(target)).length);
  }

  of(controller: object, handler: object): T[] {
    return [...this.on(controller), ...this.on(handler)];
  }

  /** Whether something was said of a method that its handler no longer carries: a wrapper has dropped it. */
  isLost(prototype: object, method: PropertyKey, handler: object): boolean {
    return Boolean(this.handlers.get(prototype)?.has(method)) && !this.on(handler).length;
  }

  /** The decorator that adds `items`. */
  with(...items: T[]): ClassDecorator & MethodDecorator {
    return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
      this.add((descriptor?.value as object | undefined) ?? target, items);
      if (method !== undefined) this.handlers.set(target, (this.handlers.get(target) ?? new Set()).add(method));
    };
  }
}
