import { Controller, Req } from '@nestjs/common';
import { errors, http, type identity, schema } from '../../../kit';
import { type HistoryQuery, MOST, PAGE, invalidField } from './audit.policy';
import { AuditStore, type HistoryLine, type HistoryPage, ofOwner } from './audit.store';

/** The schema of a line in the history and in the export of an account. */
export const HISTORY_LINE = schema.namedSchema(
  'AuthHistoryLine',
  schema.record<HistoryLine>({
    id: schema.UUID,
    at: schema.TIME,
    operation: schema.of(schema.TEXT, 'The name of a line of the security log.'),
    outcome: schema.oneOf('succeeded', 'challenged', 'failed'),
    reason: schema.of(schema.orNull(schema.TEXT), 'Why it was refused, or why a session ended.'),
    actor: schema.oneOf('user', 'operator', 'host', 'console', 'system'),
    session: schema.orNull(schema.TEXT),
    ip: schema.orNull(schema.TEXT),
    user_agent: schema.orNull(schema.TEXT),
  }),
);

type Asked = Readonly<Record<keyof HistoryQuery, unknown>>;

/** @throws ValidationFailed */
export function historyQuery(asked: Asked): HistoryQuery {
  const field = invalidField(asked);
  if (field) throw new errors.ValidationFailed({ [field]: [{ key: 'validation.invalid', params: { field } }] });
  const { before, limit } = asked;
  return { before: before as string | null | undefined, limit: limit === undefined ? PAGE : Number(limit) };
}

@Controller('history')
export class HistoryController {
  constructor(private readonly store: AuditStore) {}

  @http.Route('GET', '', 'history', {
    summary: 'Lists what happened to the account of the caller',
    note: 'The newest line is the first. `next` is the value of `before` for the next page.',
    parameters: {
      before: schema.of(schema.UUID, 'The id of a line: only those before it.'),
      limit: schema.of({ ...schema.INTEGER, minimum: 1, maximum: MOST, default: PAGE }, 'The number of lines.'),
    },
    optionalParameters: ['before', 'limit'],
    gates: [http.RequireIfPinned('svc.account')],
    unlimited: 'it reads the history of the caller',
    answer: schema.record<HistoryPage>({
      data: schema.listOf(HISTORY_LINE),
      next: schema.of(schema.orNull(schema.UUID), 'Null on the last page.'),
    }),
    refusals: [
      () => new errors.ValidationFailed({ before: [{ key: 'validation.invalid', params: { field: 'before' } }] }),
    ],
    quiet: true,
  })
  async list(
    @http.CurrentCaller() { userId }: identity.Caller,
    @Req() request: { query?: Asked; body: Asked },
  ): Promise<HistoryPage> {
    // A server call has its values in the body.
    const { data, next } = await this.store.page(userId, historyQuery(request.query ?? request.body));
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
