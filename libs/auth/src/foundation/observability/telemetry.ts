import { HttpException } from '@nestjs/common';
import { CORE_REASONS, type Reason } from '../platform/catalogue';
import { isUnavailable } from '../platform/deadline';
import { AuthException } from '../platform/errors';
import { optionalPeer } from '../platform/optional-peer';
import { METRICS, type MetricName } from './metrics';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The part of a span of OpenTelemetry that the library uses. */
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

/** The part of `@opentelemetry/api` that the library uses. A host without the package can compile these types. */
export interface OpenTelemetry {
  trace: { getTracer(name: string): Tracer; getTracerProvider(): object };
  metrics: { getMeterProvider(): { getMeter(name: string): Meter } };
}

/** `SpanStatusCode.ERROR`. */
export const ERROR = 2;

const CORE: ReadonlySet<string> = new Set(Object.keys(CORE_REASONS));

/**
 * The reason of an error: the reason that was set with `withReason`, otherwise its code.
 *
 * @param closed the codes that are reasons
 */
export function reasonOf(error: unknown, closed = CORE): Reason {
  if (error instanceof AuthException)
    return error.logDetails.reason ?? (closed.has(error.code) ? (error.code as Reason) : 'other');
  if (isUnavailable(error)) return 'store_unavailable';
  return error instanceof HttpException ? 'other' : 'unexpected';
}

const SCOPE = '@svc/auth';

const CREATE = {
  counter: 'createCounter',
  histogram: 'createHistogram',
  upDownCounter: 'createUpDownCounter',
} as const;

/** Whether an error is a fault of the service. Every other one is a correct refusal. */
const isFault = (error: unknown, reason: Reason): boolean =>
  reason === 'store_unavailable' ||
  reason === 'unexpected' ||
  (reason !== 'other' && error instanceof AuthException && error.getStatus() >= 500);

/**
 * Records spans and metrics with OpenTelemetry. Without `@opentelemetry/api` in the host, it records nothing. With the
 * API but without an SDK, the calls go to the no-op implementations of the API.
 */
export class Telemetry {
  private tracer?: Tracer;
  private isTracing = false;
  private provider?: object;
  private readonly instruments = new Map<MetricName, Instrument>();

  constructor(private readonly api = optionalPeer<OpenTelemetry>('@opentelemetry/api')) {}

  /**
   * Runs `work` in a span. Of an error, the span records only the reason, because messages may contain data.
   *
   * @param closed see {@link reasonOf}
   */
  span<T>(
    name: string,
    attributes: Attributes,
    work: (span?: Span) => Promise<T>,
    closed?: ReadonlySet<string>,
  ): Promise<T> {
    if (!this.api || !this.hasTracing(this.api)) return work();
    // The tracer of the API is a proxy: it uses an SDK that is registered later.
    this.tracer ??= this.api.trace.getTracer(SCOPE);
    // A span that is not recorded needs no end and no error.
    return this.tracer.startActiveSpan(name, { attributes }, (span) =>
      span.isRecording() ? this.recorded(span, work, closed) : work(),
    );
  }

  private async recorded<T>(span: Span, work: (span: Span) => Promise<T>, closed?: ReadonlySet<string>): Promise<T> {
    try {
      return await work(span);
    } catch (error) {
      const reason = reasonOf(error, closed);
      span.setAttributes({ 'error.type': reason });
      if (isFault(error, reason)) span.setStatus({ code: ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  /**
   * Whether an SDK for traces is registered; once true, it stays true. Until then the provider of the API is a proxy without
   * a delegate, and would build a context for each span that it does not record.
   */
  private hasTracing({ trace }: OpenTelemetry): boolean {
    if (this.isTracing) return true;
    const provider = trace.getTracerProvider() as { getDelegateTracer?(name: string): unknown };
    return (this.isTracing = !provider.getDelegateTracer || provider.getDelegateTracer(SCOPE) !== undefined);
  }

  /** Adds `by` to a counter or an up-down counter. */
  count(metric: MetricName, attributes: Attributes = {}, by = 1): void {
    this.instrument(metric)?.add?.(by, attributes);
  }

  /** Records a duration. @param since start of the duration, from `performance.now()` */
  duration(metric: MetricName, since: number, attributes: Attributes = {}): void {
    this.instrument(metric)?.record?.((performance.now() - since) / 1000, attributes);
  }

  /**
   * Creates an instrument at its first use, and again for a new provider: before an SDK is registered, it is a no-op.
   */
  private instrument(name: MetricName): Instrument | undefined {
    if (!this.api) return undefined;
    const provider = this.api.metrics.getMeterProvider();
    if (provider !== this.provider) this.instruments.clear();
    this.provider = provider;
    const existing = this.instruments.get(name);
    if (existing) return existing;
    const { kind, ...options } = METRICS[name];
    const instrument = provider.getMeter(SCOPE)[CREATE[kind]](name, options);
    this.instruments.set(name, instrument);
    return instrument;
  }
}

/** The instance of this process. The registry of OpenTelemetry is global too. */
export const telemetry = new Telemetry();
