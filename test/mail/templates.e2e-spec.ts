import type { MailTemplates } from '@svc/auth';
import { Mailbox, linkIn, member, membersForFile } from '../support/hosts/members';
import { ADA } from '../support/flows/step-up';

describe('a template of the host', () => {
  const mailbox = new Mailbox();
  const seen: Parameters<MailTemplates['passwordReset']>[] = [];
  const { t } = membersForFile({
    appName: 'Acme',
    mail: {
      mailer: mailbox,
      language: 'fr-CA',
      texts: { fr: { passwordReset: { title: 'Bonjour' }, shared: { footer: 'Acme SA' } } },
      templates: {
        passwordReset: (mail, builtIn) => {
          seen.push([mail, builtIn]);
          return { ...builtIn, subject: `${builtIn.subject}\r\n !`, headers: { Bcc: 'eve@example.com' } };
        },
        accountDeleted: async ({ language }) => ({ subject: 'Adieu', text: language }),
      },
    },
  });

  it('gets the data of the mail, its language, and the built-in content with the texts of the host', async () => {
    const id = await member(t, ADA);
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const mail = await mailbox.to(ADA);
    const [[data, builtIn]] = seen as [Parameters<MailTemplates['passwordReset']>];
    expect(data).toEqual({
      user: expect.objectContaining({ id }),
      to: ADA,
      appName: 'Acme',
      language: 'fr',
      url: linkIn(mail).href,
      minutes: 60,
    });
    expect(builtIn.text).toMatch(/^Bonjour\n[^]*\nAcme SA\n$/);
    expect(mail).toEqual({
      ...builtIn,
      to: ADA,
      subject: 'Réinitialisez votre mot de passe Acme !',
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  });

  it('is part of the previews, which have every kind once and send nothing', async () => {
    const previews = await t.auth.previewMails('de', { id: 'example' });
    const kinds = previews.map(({ kind }) => kind);
    expect(new Set(kinds).size).toBe(25);
    expect(kinds).toHaveLength(25);
    expect(previews.find(({ kind }) => kind === 'accountDeleted')).toEqual({
      kind: 'accountDeleted',
      subject: 'Adieu',
      text: 'de',
    });
    const reset = previews.find(({ kind }) => kind === 'passwordReset')!;
    expect(reset).toMatchObject({ subject: 'Neues Passwort für Acme wählen !' });
    expect(seen.at(-1)![0].user).toEqual({ id: 'example' });
    await t.calm();
    expect(mailbox.mails.filter(({ to }) => to !== ADA)).toEqual([]);
  });

  it('never gets the whole new address of an account', async () => {
    const previews = await t.auth.previewMails('en');
    const { text, html } = previews.find(({ kind }) => kind === 'emailChanged')!;
    for (const content of [text, html]) {
      expect(content).toContain('g…@example.org');
      expect(content).not.toContain('grace@');
    }
  });

  it.each(['api', 'admin'])('previews are those of the guard %s', async (guard) => {
    const previews = await t.auth.guard(guard).previewMails('fr');
    expect(previews[0]!.text).toContain('Acme SA');
  });
});
