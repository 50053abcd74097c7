import { AsyncLocalStorage } from 'node:async_hooks';
import { Patience } from './patience';

const storage = new AsyncLocalStorage<RequestScope | undefined>();
const SCOPE = Symbol('svc.scope');
let running = 0;

/** What belongs to one request to the library's routes, whatever is done for it. */
export class RequestScope {
  /** For whom something is hashed: the client, then the account it names. Asked for only then. */
  applicant: () => readonly string[] = () => [];
  private readonly patience = new Patience();
  private isAnswered = false;

  private constructor() {}

  static of(request: object & { [SCOPE]?: RequestScope }): RequestScope {
    return (request[SCOPE] ??= new RequestScope());
  }

  /** Of the request that is worked on, if one is. */
  static get current(): RequestScope | undefined {
    return storage.getStore();
  }

  /** Does `work` for no request: it waits for something else than a store, or has a bound of its own. */
  static apart<T>(work: () => T): T {
    return this.current ? storage.run(undefined, work) : work();
  }

  /** Does `work`, and all that it starts until it has ended, for this request. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    running++;
    try {
      return await storage.run(this, work);
    } finally {
      // Before Node 24 a storage in use makes every promise of the process dearer, those of guarded requests too.
      // The busiest route of the library therefore hands its scope on: see `HandsOnItsScope`.
      if (--running === 0) storage.disable();
    }
  }

  /** What goes on behind the answer keeps nobody waiting. */
  end(): void {
    this.isAnswered = true;
  }

  /** How long the request waits for its stores; nothing where it is answered. */
  get waiting(): Patience | undefined {
    return this.isAnswered ? undefined : this.patience;
  }
}
