import { HttpException } from '@nestjs/common';
import { type Reason, isReason } from '../platform/catalogue';
import { isUnavailable } from '../platform/deadline';
import { AuthException } from '../platform/errors';
import { optionalPeer } from '../platform/optional-peer';
import { BUCKETS, METRICS, type MetricName } from './metrics';

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

/** The reason that an error stands for: the one it was given, else its code. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof AuthException) return error.logDetails.reason ?? (isReason(error.code) ? error.code : 'other');
  if (isUnavailable(error)) return 'store_unavailable';
  return error instanceof HttpException ? 'other' : 'unexpected';
}

const SCOPE = '@svc/auth';

/** Reasons that are faults of the service; a refusal is what was asked of it. */
const FAULTS = ['hasher_busy', 'store_unavailable', 'unexpected'];

/**
 * The one door to OpenTelemetry. Without `@opentelemetry/api` in the host every call is a plain one; with it, and
 * no SDK registered, the API's own no-ops answer.
 */
export class Telemetry {
  private tracer?: Tracer;
  private provider?: object;
  private readonly instruments = new Map<MetricName, Instrument>();

  constructor(private readonly api = optionalPeer<OpenTelemetry>('@opentelemetry/api')) {}

  /** Runs `work` in a span, which ends with it. Of an error only its reason is kept: messages may quote data. */
  span<T>(name: string, attributes: Attributes, work: (span?: Span) => Promise<T>): Promise<T> {
    if (!this.api) return work();
    // The API's tracer is a proxy: it finds an SDK that is registered later.
    this.tracer ??= this.api.trace.getTracer(SCOPE);
    // A span that nobody records needs neither an end nor an error.
    return this.tracer.startActiveSpan(name, { attributes }, (span) =>
      span.isRecording() ? this.recorded(span, work) : work(),
    );
  }

  private async recorded<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await work(span);
    } catch (error) {
      const reason = reasonOf(error);
      span.setAttributes({ 'error.type': reason });
      if (FAULTS.includes(reason)) span.setStatus({ code: ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  /** Counts one, or `by`, under a counter or an up-down counter. */
  count(metric: MetricName, attributes: Attributes = {}, by = 1): void {
    this.instrument(metric)?.add?.(by, attributes);
  }

  /** Records a duration. @param since of `performance.now()` */
  duration(metric: MetricName, since: number, attributes: Attributes = {}): void {
    this.instrument(metric)?.record?.((performance.now() - since) / 1000, attributes);
  }

  /** Made when first used, and anew for another provider: the API hands out no-ops until an SDK is registered. */
  private instrument(name: MetricName): Instrument | undefined {
    if (!this.api) return undefined;
    const provider = this.api.metrics.getMeterProvider();
    if (provider !== this.provider) this.instruments.clear();
    this.provider = provider;
    const known = this.instruments.get(name);
    if (known) return known;
    const { kind, ...options } = METRICS[name];
    const meter = provider.getMeter(SCOPE);
    const made =
      kind === 'histogram'
        ? meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: BUCKETS } })
        : kind === 'counter'
          ? meter.createCounter(name, options)
          : meter.createUpDownCounter(name, options);
    this.instruments.set(name, made);
    return made;
  }
}

/** Of the process, as OpenTelemetry's own registry is. */
export const telemetry = new Telemetry();
