import { Controller, Req } from '@nestjs/common';
import { http, type identity, schema } from '../../../kit';
import { unusableField } from '../operators.errors';
import { type AskedPage, type HistoryQuery, MOST, PAGE, invalidField } from './audit.policy';
import { AuditStore, type AuditedLine, type HistoryLine, type HistoryPage, ofOwner } from './audit.store';

const LINE: { readonly [Field in keyof HistoryLine]: schema.Schema } = {
  id: schema.UUID,
  at: schema.TIME,
  operation: schema.of(schema.TEXT, 'The name of a line of the security log.'),
  outcome: schema.oneOf('succeeded', 'challenged', 'failed'),
  reason: schema.of(schema.orNull(schema.TEXT), 'Why it was refused, or why a session ended.'),
  actor: schema.oneOf('user', 'operator', 'host', 'console', 'system'),
  session: schema.orNull(schema.TEXT),
  ip: schema.orNull(schema.TEXT),
  user_agent: schema.orNull(schema.TEXT),
};

/** The schema of a line in the history and in the export of an account. */
export const HISTORY_LINE = schema.namedSchema('AuthHistoryLine', schema.record<HistoryLine>(LINE));

/** The declaration of the query of a history. */
export const HISTORY_PARAMETERS = {
  parameters: {
    before: schema.of(schema.UUID, 'The id of a line: only those before it.'),
    limit: schema.of({ ...schema.INTEGER, minimum: 1, maximum: MOST, default: PAGE }, 'The number of lines.'),
  },
  optionalParameters: ['before', 'limit'],
  refusals: [() => unusableField('before')],
};

const pageOf = (line: schema.Schema): schema.Schema =>
  schema.record<HistoryPage>({
    data: schema.listOf(line),
    next: schema.of(schema.orNull(schema.UUID), 'Null on the last page.'),
  });

/** A page of a history as operators see it. */
export const OPERATORS_HISTORY = pageOf(
  schema.namedSchema(
    'AuthAuditedLine',
    schema.record<AuditedLine>({
      ...LINE,
      actor_guard: schema.orNull(schema.TEXT),
      actor_id: schema.orNull(schema.TEXT),
      text: schema.of(schema.orNull(schema.TEXT), 'The reason that an operator has written.'),
    }),
  ),
);

/** A request for a page of a history. */
export type AskedHistory = Readonly<Record<'query' | 'body', AskedPage>>;

/** The query of a request. A server call has its values in the body. @throws ValidationFailed */
export function historyQuery({ query, body }: AskedHistory): HistoryQuery {
  const asked = query ?? body;
  const field = invalidField(asked);
  if (field) throw unusableField(field);
  return { before: asked.before as HistoryQuery['before'], limit: Number(asked.limit ?? PAGE) };
}

@Controller('history')
export class HistoryController {
  constructor(private readonly store: AuditStore) {}

  @http.Route('GET', '', 'history', {
    summary: 'Lists what happened to the account of the caller',
    note: 'The newest line is the first. `next` is the value of `before` for the next page.',
    ...HISTORY_PARAMETERS,
    gates: [http.RequireIfPinned('svc.account')],
    unlimited: 'it reads the history of the caller',
    answer: pageOf(HISTORY_LINE),
    quiet: true,
  })
  async list(@http.CurrentCaller() { userId }: identity.Caller, @Req() request: AskedHistory): Promise<HistoryPage> {
    const { data, next } = await this.store.page(userId, historyQuery(request));
    return { data: data.map(ofOwner), next };
  }
}

declare module '../../../request/http/server-call' {
  interface Capabilities {
    /** The history of the account of the caller. */
    readonly history: HistoryFlow;
  }
}

/**
 * The history of accounts, for code of the host. Needs `features.audit`.
 *
 * @publicApi
 */
export class HistoryFlow extends http.Flow {
  /** As `GET /history`: what happened to the account of the caller. @throws Unauthenticated, InsufficientScope, ValidationFailed */
  list(query: HistoryQuery, source: http.CallSource): Promise<HistoryPage> {
    return this.call(HistoryController, 'list', source, { ...query });
  }
}
