/** The part of autocannon 9 that the benchmark uses. The package has no types. */
declare module 'autocannon' {
  namespace autocannon {
    /** One connection. `setupClient` can set its requests. */
    interface Client {
      setRequests(requests: Request[]): void;
      setBody(body: string): void;
    }

    interface Request {
      headers?: Record<string, string>;
      body?: string;
      onResponse?(status: number, body: string): void;
      /** Makes the next request from the last one of the connection. */
      setupRequest?(request: Request): Request;
    }

    interface Options {
      url: string;
      method: string;
      connections: number;
      /** Requests a second of all connections together. Default: as many as possible. */
      overallRate?: number;
      /** Seconds. */
      duration?: number;
      /** The total number of requests of all connections, instead of a duration. */
      amount?: number;
      /** Milliseconds between two checks of the time: limits how far a run exceeds its duration. */
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
