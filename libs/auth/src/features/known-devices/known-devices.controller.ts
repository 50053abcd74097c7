import { Controller, Param, Req } from '@nestjs/common';
import { http, type identity, schema } from '../../kit';
import type { ListedKnownDevice } from './known-device.store';
import { KnownDevices } from './known-devices';
import { ReportFailed, SignInReportBody, SignInReports } from './sign-in-report';

/** The fields of a device in the list and in the export of an account. */
export const DEVICE = {
  id: schema.UUID,
  first_seen_at: schema.TIME,
  last_seen_at: schema.TIME,
  user_agent: schema.orNull(schema.TEXT),
};

const LISTED = schema.namedSchema(
  'AuthKnownDevice',
  schema.record<ListedKnownDevice>({
    ...DEVICE,
    current: schema.of(schema.FLAG, 'Whether it is the device of this request.'),
  }),
);

@Controller()
export class KnownDevicesController {
  constructor(
    private readonly devices: KnownDevices,
    private readonly reports: SignInReports,
  ) {}

  @http.Route('GET', 'devices', 'devices_list', {
    summary: 'Lists the devices on which the caller has signed in',
    gates: [http.RequireIfPinned('svc.sessions')],
    unlimited: 'it reads the devices of the caller',
    answer: http.listed(LISTED),
    quiet: true,
  })
  own(@http.CurrentCaller() { userId }: identity.Caller, @Req() request: object): Promise<ListedKnownDevice[]> {
    return this.devices.list(userId, request);
  }

  /** Forgets a device: the next sign-in on it is one on a new device. Ends no session. */
  @http.Route('DELETE', 'devices/:svcKnownDevice', 'device_forget', {
    summary: 'Forgets a device of the caller',
    note: 'Ends no session. An id that is unknown has no effect.',
    parameters: { svcKnownDevice: schema.of(schema.UUID, 'The id of a known device.') },
    gates: [http.RequireIfPinned('svc.sessions')],
    unlimited: 'it removes a row that a sign-in has added',
  })
  forget(@http.CurrentCaller() { userId }: identity.Caller, @Param('svcKnownDevice') id: string): Promise<void> {
    return this.devices.forget(userId, id);
  }

  /** The link opens a page of the host, which posts the token. So a program that opens links in mails changes nothing. */
  @http.Route('POST', 'sessions/report', 'sign_in_report', {
    summary: 'Ends all sessions with the token of the mail about a sign-in, and mails a reset link',
    note: 'Every link that is not accepted gets the same text. A link that is used again gets the same answer.',
    public: true,
    limiter: 'svc-mailed-links',
    done: 'sign-in-reported',
    refusals: [ReportFailed],
    quiet: true,
  })
  report(@http.RequestBody() { token }: SignInReportBody): Promise<void> {
    return this.reports.report(token);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** The known devices of a caller, and the report of a sign-in. */
    readonly knownDevices: KnownDeviceFlow;
  }
}

/**
 * The known devices of a caller, and the report of a sign-in, for code of the host. Needs `features.knownDevices`.
 *
 * @publicApi
 */
export class KnownDeviceFlow extends http.Flow {
  /** As `GET /devices`: lists the devices, the last sign-in first. @throws Unauthenticated, InsufficientScope */
  list(source: http.CallSource): Promise<ListedKnownDevice[]> {
    return this.call(KnownDevicesController, 'own', source);
  }

  /** As `DELETE /devices/:id`. An unknown id has no effect. @throws Unauthenticated, InsufficientScope */
  forget(id: string, source: http.CallSource): Promise<void> {
    return this.call(KnownDevicesController, 'forget', source, { svcKnownDevice: id });
  }

  /** As `POST /sessions/report`. @throws ReportFailed, ValidationFailed, TooManyRequests, StoreUnavailable */
  report(token: string, source: http.CallSource): Promise<void> {
    return this.call(KnownDevicesController, 'report', source, { token });
  }
}
