/** The part of autocannon 9 that the benchmark uses; the package brings no types. */
declare module 'autocannon' {
  namespace autocannon {
    /** One connection; `setupClient` may give it requests of its own. */
    interface Client {
      setRequests(requests: Request[]): void;
      setBody(body: string): void;
    }

    interface Request {
      headers?: Record<string, string>;
      body?: string;
      onResponse?(status: number, body: string): void;
    }

    interface Options {
      url: string;
      method: string;
      connections: number;
      /** Seconds. */
      duration?: number;
      /** Requests of all connections together, in the place of a duration. */
      amount?: number;
      /** Milliseconds between two looks at the clock; bounds how far a run overshoots its duration. */
      sampleInt: number;
      setupClient(client: Client): void;
    }

    interface Result {
      '2xx': number;
      non2xx: number;
      errors: number;
      /** Seconds. */
      duration: number;
    }

    interface Run extends PromiseLike<Result> {
      on(
        event: 'response',
        listener: (client: Client, status: number, bytes: number, milliseconds: number) => void,
      ): this;
      stop(): void;
    }
  }

  function autocannon(options: autocannon.Options): autocannon.Run;
  export = autocannon;
}
