import { Realm, data, defineFeature, schema } from '../../../kit';
import { AuditTrail } from './audit-trail';
import { AuditKey, AuditLine, CreateSvcAudit1764800000000, CreateSvcAuditKeys1764800000001 } from './audit.entity';
import { AUDIT_MODULE_OPTIONS, AUDIT_OPTIONS } from './audit.options';
import { AuditStore } from './audit.store';
import { HISTORY_LINE, HistoryController, HistoryFlow } from './history.controller';

/** The history of accounts: what happened, when, and by whom. */
export const audit = defineFeature('audit', {
  flags: ['audit'],
  needsEncryptionKey: 'addresses in histories are encrypted at rest',
  options: AUDIT_OPTIONS,
  moduleOptions: AUDIT_MODULE_OPTIONS,
  capabilities: { history: HistoryFlow },
  controllers: [HistoryController],
  exportedIfUsed: { audit: schema.listOf(HISTORY_LINE) },
  providers: [AuditTrail],
  page: 'operators.md',
  on: {
    sessionStart: (services, session) => services.get(AuditTrail).ofStart(session),
    sessionEnd: (services, sql, ended, reason) => services.get(AuditTrail).recordEnds(sql, ended, reason),
  },
  data: {
    entities: [
      { entity: AuditLine, migration: CreateSvcAudit1764800000000 },
      { entity: AuditKey, migration: CreateSvcAuditKeys1764800000001 },
    ],
    stores: [AuditStore],
    export: {
      audit: async (services, userId) =>
        data.ifUsed(await services.get(AuditStore).export(userId), services.get(Realm).options.features.audit),
    },
    // The lines stay, without what they say about the client.
    erase: [data.rowsOfUser(AuditKey)],
    prune: {
      audit: { title: 'lines of histories', ofAllGuards: true, run: (services) => services.get(AuditStore).prune() },
    },
  },
});
