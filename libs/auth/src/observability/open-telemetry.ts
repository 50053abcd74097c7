export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span of OpenTelemetry, as far as it is used. */
export interface Span {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number }): unknown;
  isRecording(): boolean;
  end(): void;
}

export interface Instrument {
  add?(value: number, attributes?: Attributes): void;
  record?(value: number, attributes?: Attributes): void;
}

type Make = (name: string, options: object) => Instrument;

export interface Meter {
  createCounter: Make;
  createHistogram: Make;
  createUpDownCounter: Make;
}

export interface Tracer {
  startActiveSpan<T>(name: string, options: { attributes?: Attributes }, work: (span: Span) => T): T;
}

/** What of `@opentelemetry/api` is used. Written out, so that a host without it compiles against our types. */
export interface OpenTelemetry {
  trace: { getTracer(name: string): Tracer };
  metrics: { getMeterProvider(): { getMeter(name: string): Meter } };
}

/** `SpanStatusCode.ERROR`. */
export const ERROR = 2;
