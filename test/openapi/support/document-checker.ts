import SwaggerParser from '@apidevtools/swagger-parser';
import type { INestApplicationContext } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type MessageKey, messageIn } from '@svc/auth/languages';
import { describeAuth } from '@svc/auth/openapi';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import type { Response, Test } from 'supertest';
import { onFastify } from '../../support/hosts/adapter';
import type { TestApp } from '../../support/hosts/app';

type Json = Record<string, unknown>;

interface Documented {
  headers?: Record<string, { required?: boolean; schema: Json }>;
  content?: { 'application/json': { schema: Json } };
}

/** An operation of the library with resolved references. */
export interface DescribedOperation {
  id: string;
  method: 'get' | 'head' | 'post' | 'patch' | 'delete';
  path: string;
  security: Record<string, unknown>[];
  parameters: { name: string; in: string }[];
  body?: { required?: string[]; properties: Record<string, Json> };
  responses: Record<string, Documented>;
}

export interface Sent {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  token?: string;
  proof?: string;
  headers?: Record<string, string>;
}

/** The document of a host, as the Swagger module creates it. */
export const documentOf = (app: TestApp['app'], version = '3.0.0'): OpenAPIObject =>
  describeAuth(
    app as INestApplicationContext,
    SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('Host').setOpenAPIVersion(version).build()),
  );

/** Ajv compiles each object once, so a schema has one closed form. */
const closedForms = new Map<Json, unknown>();

/** Makes the schema reject properties that it does not describe. */
function closed(schema: Json): unknown {
  const known = closedForms.get(schema);
  if (known) return known;
  const form = JSON.parse(JSON.stringify(schema), (_, value: Json) =>
    value && typeof value === 'object' && value.type === 'object' && 'properties' in value
      ? { ...value, additionalProperties: false }
      : value,
  );
  closedForms.set(schema, form);
  return form;
}

const bodies = addFormats(new Ajv({ strict: false, allErrors: true }));
const texts = addFormats(new Ajv({ strict: false, coerceTypes: true }));

function faults(ajv: Ajv, schema: unknown, data: unknown): unknown {
  const validate = ajv.compile(schema as object);
  return validate(data) ? [] : { data, errors: validate.errors };
}

/** Whether a text is the English one of a message, whatever its parameters are. */
function isTextOf(code: string, text: string): boolean {
  const parts = messageIn('en', code as MessageKey).split(/\{\w+\}/);
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`).test(text);
}

/** Each text by field, and a text without a field of 422, has its code in the header, in the order of the texts. */
function checkCodes(id: string, { status, headers, body }: Response): void {
  const fields = body.errors ?? (status === 422 ? { '': [body.message] } : {});
  const sent = new URLSearchParams(headers['x-svc-error-codes'] ?? '');
  expect({ id, coded: [...new Set(sent.keys())] }).toEqual({ id, coded: Object.keys(fields) });
  for (const [field, own] of Object.entries<string[]>(fields)) {
    const codes = sent.getAll(field);
    const coded = own.map((text, i) => ({ id, text, code: isTextOf(codes[i]!, text) ? codes[i] : 'of another text' }));
    expect(coded).toEqual(own.map((text, i) => ({ id, text, code: codes[i] })));
  }
}

/** Compares the answers of operations with their document. */
export class DocumentChecker {
  /** The received statuses, by operation. */
  readonly met = new Map<string, Set<string>>();

  private constructor(readonly operations: readonly DescribedOperation[]) {}

  static async of(document: object): Promise<DocumentChecker> {
    const { paths = {} } = (await SwaggerParser.dereference(structuredClone(document) as never)) as OpenAPIObject;
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Json>)
        .filter(([, { operationId }]) => /^(api|admin)_/.test(String(operationId)))
        .map(([method, operation]) => opOf(path, method, operation)),
    );
    return new DocumentChecker(operations);
  }

  op(id: string): DescribedOperation {
    const found = this.operations.find((operation) => operation.id === id);
    if (!found) throw new Error(`no operation ${id}`);
    return found;
  }

  /** Sends a request to an operation, and compares the answer with the document. */
  async send(t: TestApp, id: string, sent: Sent = {}): Promise<Response> {
    const response = await this.request(t, id, sent);
    this.hold(this.op(id), response);
    const { body } = this.op(id);
    if (response.status < 300 && body && sent.body !== undefined) expect(faults(bodies, body, sent.body)).toEqual([]);
    return response;
  }

  /** Like `send`, and expects one status. */
  async expect(t: TestApp, id: string, status: number, sent: Sent = {}): Promise<Response> {
    const response = await this.send(t, id, sent);
    expect({ id, status: response.status, body: response.body }).toMatchObject({ status });
    return response;
  }

  /** The documented statuses that were never received. */
  get unmet(): string[] {
    return this.operations.flatMap(({ id, responses }) =>
      Object.keys(responses)
        .filter((status) => !this.met.get(id)?.has(status))
        .map((status) => `${id} ${status}`),
    );
  }

  private request(t: TestApp, id: string, { params = {}, query = '', body, token, proof, headers = {} }: Sent): Test {
    const { method, path } = this.op(id);
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'none') + query;
    const call = t.http[method](url).redirects(0).set('Accept', 'application/json');
    if (token !== undefined) call.set('Authorization', `Bearer ${token}`);
    if (proof !== undefined) call.set('X-Svc-Confirmation', proof);
    for (const [name, value] of Object.entries(headers)) call.set(name, value);
    return body === undefined ? call : call.send(body as string);
  }

  private hold({ id, method, responses }: DescribedOperation, response: Response): void {
    const { status, headers, body, text } = response;
    const documented = responses[status];
    expect({ id, status, documented: Boolean(documented) }).toEqual({ id, status, documented: true });
    this.met.set(id, (this.met.get(id) ?? new Set()).add(String(status)));
    for (const [name, { required, schema }] of Object.entries(documented!.headers ?? {})) {
      const value = headers[name.toLowerCase()];
      if (required) expect({ id, status, name, value }).toEqual({ id, status, name, value: expect.anything() });
      if (value !== undefined)
        expect({ id, name, faults: faults(texts, schema, String(value)) }).toEqual({ id, name, faults: [] });
    }
    // A cache must not keep a refusal: the next request may be allowed. Every documented refusal is received here.
    // Fastify refuses a path with a broken escape before every hook: no code of the library and of the host runs.
    const { path: sent } = (response as unknown as { req: { path: string } }).req;
    if (status >= 400 && !(onFastify && sent.includes('%E0')))
      expect({ id, status, caching: headers['cache-control'] }).toEqual({ id, status, caching: 'no-store, private' });
    checkCodes(id, response);
    if (status === 204) expect(text || '').toBe('');
    if (method === 'head' || !documented!.content) return;
    expect(headers['content-type']).toMatch(/^application\/json/);
    const { schema } = documented!.content['application/json'];
    // Errors of Fastify's router have more fields than the document describes.
    const isRouters = onFastify && body.code === 'FST_ERR_BAD_URL';
    expect({ id, status, faults: faults(bodies, isRouters ? schema : closed(schema), body) }).toEqual({
      id,
      status,
      faults: [],
    });
  }
}

function opOf(path: string, method: string, operation: Json): DescribedOperation {
  const {
    operationId,
    security,
    parameters = [],
    requestBody,
    responses,
  } = operation as never as {
    operationId: string;
    security: DescribedOperation['security'];
    parameters?: DescribedOperation['parameters'];
    requestBody?: { content: { 'application/json': { schema: DescribedOperation['body'] } } };
    responses: DescribedOperation['responses'];
  };
  const body = requestBody?.content['application/json'].schema;
  return {
    id: operationId,
    method: method as DescribedOperation['method'],
    path,
    security,
    parameters,
    body,
    responses,
  };
}
