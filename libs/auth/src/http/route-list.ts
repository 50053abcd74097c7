/** What decorators say of a route in lists: a handler adds to its controller's, and never replaces it. */
export class RouteList<T> {
  constructor(private readonly key: string) {}

  /** Adds to a controller class or a handler. Metadata, which a decorator that wraps a handler copies along. */
  add(target: object, items: readonly T[]): void {
    Reflect.defineMetadata(this.key, [...this.on(target), ...items], target);
  }

  /** What is said of one controller class, its base classes included, or of one handler. */
  on(target: object): readonly T[] {
    return Reflect.getMetadata(this.key, target) ?? [];
  }

  of(controller: object, handler: object): T[] {
    return [...this.on(controller), ...this.on(handler)];
  }

  /** The decorator that adds `items`. */
  with(...items: T[]): ClassDecorator & MethodDecorator {
    return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
      this.add((descriptor?.value as object | undefined) ?? target, items);
    };
  }
}
