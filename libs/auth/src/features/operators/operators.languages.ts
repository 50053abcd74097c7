import type { texts } from '../../kit';
import { OPERATORS_MESSAGES } from './operators.texts';

export const operatorsLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof OPERATORS_MESSAGES> &
    texts.WithMails<'accountSuspended' | 'supportEndedSessions' | 'supportSignedIn'>
> = {
  en: {
    messages: OPERATORS_MESSAGES,
    mails: {
      accountSuspended: {
        subject: 'Your {appName} account is suspended',
        preheader: 'You cannot sign in at present.',
        title: 'Your account is suspended',
        body: 'Your account at {appName} was suspended, and you were signed out everywhere.',
        note: 'If you do not know why, contact the support team of {appName}.',
      },
      supportEndedSessions: {
        subject: 'You were signed out of {appName}',
        preheader: 'You can sign in again.',
        title: 'The support team signed you out',
        body: 'The support team of {appName} has signed you out, on one device or on all of them. You can sign in again.',
        note: 'If you did not ask for this, contact the support team of {appName}.',
      },
      supportSignedIn: {
        subject: 'The {appName} support team acted for you',
        preheader: 'You see it among your sessions.',
        title: 'The support team acted for you',
        body: 'A member of the support team of {appName} acted for you, for a short time and with limited rights. You see it among your sessions.',
        note: 'If you did not ask for help, contact the support team of {appName}.',
      },
    },
  },
  de: {
    messages: {
      'auth.no_such_user': 'Diesen Benutzer gibt es nicht.',
      'auth.operator_protected': 'Dieser Benutzer ist ein Operator. Verwenden Sie die Konsole.',
      'auth.nothing_to_remove': 'Der Benutzer hat es nicht.',
      'auth.credential_kind': 'Nennen Sie eine dieser Arten: {kinds}.',
      'auth.no_password': 'Der Benutzer hat kein Passwort, oder er kann keinen Link erhalten, um ein neues zu wählen.',
      'auth.not_suspended': 'Der Benutzer ist nicht gesperrt.',
      'auth.cannot_act': 'Niemand kann für einen Benutzer handeln, der sich nicht anmelden darf.',
      'auth.actor_refused': 'Das ist nicht möglich, während Sie für den Benutzer handeln.',
      'auth.acting_abilities': 'Mit diesen Rechten können Sie nicht für den Benutzer handeln.',
    },
    mails: {
      accountSuspended: {
        subject: 'Ihr Konto bei {appName} ist gesperrt',
        preheader: 'Sie können sich zurzeit nicht anmelden.',
        title: 'Ihr Konto ist gesperrt',
        body: 'Ihr Konto bei {appName} wurde gesperrt, und Sie wurden überall abgemeldet.',
        note: 'Wenn Sie den Grund nicht kennen, wenden Sie sich an den Support von {appName}.',
      },
      supportEndedSessions: {
        subject: 'Sie wurden bei {appName} abgemeldet',
        preheader: 'Sie können sich wieder anmelden.',
        title: 'Der Support hat Sie abgemeldet',
        body: 'Der Support von {appName} hat Sie auf einem Gerät oder auf allen Geräten abgemeldet. Sie können sich wieder anmelden.',
        note: 'Wenn Sie nicht darum gebeten haben, wenden Sie sich an den Support von {appName}.',
      },
      supportSignedIn: {
        subject: 'Der Support von {appName} hat für Sie gehandelt',
        preheader: 'Sie sehen es in der Liste Ihrer Sitzungen.',
        title: 'Der Support hat für Sie gehandelt',
        body: 'Ein Mitglied des Supports von {appName} hat kurz und mit begrenzten Rechten für Sie gehandelt. Sie sehen es in der Liste Ihrer Sitzungen.',
        note: 'Wenn Sie nicht um Hilfe gebeten haben, wenden Sie sich an den Support von {appName}.',
      },
    },
  },
  fr: {
    messages: {
      'auth.no_such_user': 'Cet utilisateur n’existe pas.',
      'auth.operator_protected': 'Cet utilisateur est un opérateur. Utilisez la console.',
      'auth.nothing_to_remove': 'L’utilisateur ne l’a pas.',
      'auth.credential_kind': 'Indiquez l’un de ces types : {kinds}.',
      'auth.no_password':
        'L’utilisateur n’a pas de mot de passe, ou ne peut pas recevoir de lien pour en choisir un nouveau.',
      'auth.not_suspended': 'L’utilisateur n’est pas suspendu.',
      'auth.cannot_act': 'Personne ne peut agir pour un utilisateur qui ne peut pas se connecter.',
      'auth.actor_refused': 'Ce n’est pas possible pendant que vous agissez pour l’utilisateur.',
      'auth.acting_abilities': 'Vous ne pouvez pas agir pour l’utilisateur avec ces droits.',
    },
    mails: {
      accountSuspended: {
        subject: 'Votre compte {appName} est suspendu',
        preheader: 'Vous ne pouvez pas vous connecter pour le moment.',
        title: 'Votre compte est suspendu',
        body: 'Votre compte {appName} a été suspendu, et vous avez été déconnecté partout.',
        note: 'Si vous ne savez pas pourquoi, contactez l’assistance de {appName}.',
      },
      supportEndedSessions: {
        subject: 'Vous avez été déconnecté de {appName}',
        preheader: 'Vous pouvez vous reconnecter.',
        title: 'L’assistance vous a déconnecté',
        body: 'L’assistance de {appName} vous a déconnecté d’un appareil ou de tous. Vous pouvez vous reconnecter.',
        note: 'Si vous ne l’avez pas demandé, contactez l’assistance de {appName}.',
      },
      supportSignedIn: {
        subject: 'L’assistance de {appName} a agi pour vous',
        preheader: 'Vous le voyez parmi vos sessions.',
        title: 'L’assistance a agi pour vous',
        body: 'Un membre de l’assistance de {appName} a agi pour vous, brièvement et avec des droits limités. Vous le voyez parmi vos sessions.',
        note: 'Si vous n’avez pas demandé d’aide, contactez l’assistance de {appName}.',
      },
    },
  },
  es: {
    messages: {
      'auth.no_such_user': 'Ese usuario no existe.',
      'auth.operator_protected': 'Ese usuario es un operador. Use la consola.',
      'auth.nothing_to_remove': 'El usuario no lo tiene.',
      'auth.credential_kind': 'Indique uno de estos tipos: {kinds}.',
      'auth.no_password': 'El usuario no tiene contraseña, o no puede recibir un enlace para elegir una nueva.',
      'auth.not_suspended': 'El usuario no está suspendido.',
      'auth.cannot_act': 'Nadie puede actuar como un usuario que no puede iniciar sesión.',
      'auth.actor_refused': 'Esto no es posible mientras actúa como el usuario.',
      'auth.acting_abilities': 'No puede actuar como el usuario con estos permisos.',
    },
    mails: {
      accountSuspended: {
        subject: 'Su cuenta de {appName} está suspendida',
        preheader: 'Por ahora no puede iniciar sesión.',
        title: 'Su cuenta está suspendida',
        body: 'Su cuenta de {appName} se ha suspendido, y su sesión se ha cerrado en todas partes.',
        note: 'Si no sabe por qué, póngase en contacto con el equipo de soporte de {appName}.',
      },
      supportEndedSessions: {
        subject: 'Su sesión de {appName} se ha cerrado',
        preheader: 'Puede iniciar sesión de nuevo.',
        title: 'El equipo de soporte cerró su sesión',
        body: 'El equipo de soporte de {appName} ha cerrado su sesión en un dispositivo o en todos. Puede iniciar sesión de nuevo.',
        note: 'Si no lo pidió, póngase en contacto con el equipo de soporte de {appName}.',
      },
      supportSignedIn: {
        subject: 'El equipo de soporte de {appName} actuó por usted',
        preheader: 'Lo ve entre sus sesiones.',
        title: 'El equipo de soporte actuó por usted',
        body: 'Un miembro del equipo de soporte de {appName} actuó por usted, por poco tiempo y con permisos limitados. Lo ve entre sus sesiones.',
        note: 'Si no pidió ayuda, póngase en contacto con el equipo de soporte de {appName}.',
      },
    },
  },
  pt: {
    messages: {
      'auth.no_such_user': 'Esse usuário não existe.',
      'auth.operator_protected': 'Esse usuário é um operador. Use o console.',
      'auth.nothing_to_remove': 'O usuário não tem isso.',
      'auth.credential_kind': 'Indique um destes tipos: {kinds}.',
      'auth.no_password': 'O usuário não tem senha, ou não pode receber um link para escolher uma nova.',
      'auth.not_suspended': 'O usuário não está suspenso.',
      'auth.cannot_act': 'Ninguém pode agir como um usuário que não pode entrar.',
      'auth.actor_refused': 'Isto não é possível enquanto você age como o usuário.',
      'auth.acting_abilities': 'Você não pode agir como o usuário com essas permissões.',
    },
    mails: {
      accountSuspended: {
        subject: 'Sua conta de {appName} está suspensa',
        preheader: 'Por enquanto, você não pode entrar.',
        title: 'Sua conta está suspensa',
        body: 'Sua conta de {appName} foi suspensa, e você saiu em todos os lugares.',
        note: 'Se não sabe por quê, entre em contato com a equipe de suporte de {appName}.',
      },
      supportEndedSessions: {
        subject: 'Você saiu de {appName}',
        preheader: 'Você pode entrar de novo.',
        title: 'A equipe de suporte encerrou sua sessão',
        body: 'A equipe de suporte de {appName} encerrou sua sessão em um dispositivo ou em todos. Você pode entrar de novo.',
        note: 'Se não pediu isso, entre em contato com a equipe de suporte de {appName}.',
      },
      supportSignedIn: {
        subject: 'A equipe de suporte de {appName} agiu por você',
        preheader: 'Você o vê entre suas sessões.',
        title: 'A equipe de suporte agiu por você',
        body: 'Um membro da equipe de suporte de {appName} agiu por você, por pouco tempo e com permissões limitadas. Você o vê entre suas sessões.',
        note: 'Se não pediu ajuda, entre em contato com a equipe de suporte de {appName}.',
      },
    },
  },
  ja: {
    messages: {
      'auth.no_such_user': 'そのユーザーは存在しません。',
      'auth.operator_protected': 'このユーザーはオペレーターです。コンソールを使用してください。',
      'auth.nothing_to_remove': 'このユーザーはそれを持っていません。',
      'auth.credential_kind': '次の種類のいずれかを指定してください: {kinds}。',
      'auth.no_password': 'このユーザーにはパスワードがないか、新しいパスワードを選ぶためのリンクを受け取れません。',
      'auth.not_suspended': 'このユーザーは停止されていません。',
      'auth.cannot_act': 'サインインできないユーザーとして操作することはできません。',
      'auth.actor_refused': 'ユーザーとして操作している間は、これはできません。',
      'auth.acting_abilities': 'これらの権限でユーザーとして操作することはできません。',
    },
    mails: {
      accountSuspended: {
        subject: '{appName} のアカウントが停止されました',
        preheader: '現在、サインインすることはできません。',
        title: 'アカウントが停止されました',
        body: '{appName} のアカウントが停止され、すべての場所でサインアウトされました。',
        note: '理由がわからない場合は、{appName} のサポートにお問い合わせください。',
      },
      supportEndedSessions: {
        subject: '{appName} からサインアウトされました',
        preheader: 'もう一度サインインすることができます。',
        title: 'サポートがサインアウトしました',
        body: '{appName} のサポートが、1 台またはすべてのデバイスであなたをサインアウトしました。もう一度サインインできます。',
        note: 'サインアウトを依頼していない場合は、{appName} のサポートにお問い合わせください。',
      },
      supportSignedIn: {
        subject: '{appName} のサポートがあなたの代わりに操作しました',
        preheader: 'セッションの一覧で確認することができます。',
        title: 'サポートがあなたの代わりに操作しました',
        body: '{appName} のサポート担当者が、短い時間、限られた権限であなたの代わりに操作しました。セッションの一覧で確認できます。',
        note: 'サポートを依頼していない場合は、{appName} のサポートにお問い合わせください。',
      },
    },
  },
};
