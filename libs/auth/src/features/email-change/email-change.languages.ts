import type { texts } from '../../kit';
import { EMAIL_CHANGE_MESSAGES } from './email-change.texts';

export const emailChangeLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof EMAIL_CHANGE_MESSAGES> & texts.WithMails<'emailChange' | 'emailChanged'>
> = {
  en: {
    messages: EMAIL_CHANGE_MESSAGES,
    mails: {
      emailChange: {
        subject: 'Confirm your new email address for {appName}',
        preheader: 'Confirm the new address with the link in this mail.',
        title: 'Confirm your new email address',
        body: 'This address was given as the new email address of an account at {appName}. It replaces the former address when you confirm it.',
        link: 'Confirm the new address',
        note: 'If you did not request this, ignore this mail: nothing changes.',
      },
      emailChanged: {
        subject: 'Your {appName} email address was changed',
        preheader: 'Was this you? If not, undo the change with the link in this mail.',
        title: 'Your email address was changed',
        body: 'The email address of your account at {appName} was changed.\n\nIf this was not you, open the link. It undoes the change and ends all sessions. Then you choose a new password.',
        bodyWithoutLink:
          'The email address of your account at {appName} was changed. This address is not used any more.\n\nIf this was not you, please contact support.',
        link: 'Undo the change',
        note: 'If this was you, ignore this mail.',
      },
    },
  },
  de: {
    messages: {
      'auth.email_change_failed':
        'Dieser Link zum Ändern der E-Mail-Adresse ist nicht mehr gültig. Bitte fordern Sie einen neuen an.',
      'auth.new_email_taken':
        'Inzwischen hat ein anderes Konto diese E-Mail-Adresse. Die Adresse Ihres Kontos ist unverändert.',
      'auth.former_email_taken':
        'Diese E-Mail-Adresse gehört inzwischen zu einem anderen Konto. Bitte wenden Sie sich an den Support.',
    },
    mails: {
      emailChange: {
        subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse für {appName}',
        preheader: 'Bestätigen Sie die neue Adresse mit dem Link in dieser E-Mail.',
        title: 'Neue E-Mail-Adresse bestätigen',
        body: 'Diese Adresse wurde als neue E-Mail-Adresse eines Kontos bei {appName} angegeben. Sie ersetzt die bisherige Adresse, sobald Sie sie bestätigen.',
        link: 'Neue Adresse bestätigen',
        note: 'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Dann ändert sich nichts.',
      },
      emailChanged: {
        subject: 'Ihre E-Mail-Adresse bei {appName} wurde geändert',
        preheader: 'Waren Sie das? Wenn nicht, machen Sie die Änderung mit dem Link in dieser E-Mail rückgängig.',
        title: 'Ihre E-Mail-Adresse wurde geändert',
        body: 'Die E-Mail-Adresse Ihres Kontos bei {appName} wurde geändert.\n\nWenn Sie das nicht waren, öffnen Sie den Link. Er macht die Änderung rückgängig und beendet alle Sitzungen. Danach wählen Sie ein neues Passwort.',
        bodyWithoutLink:
          'Die E-Mail-Adresse Ihres Kontos bei {appName} wurde geändert. Diese Adresse wird nicht mehr verwendet.\n\nWenn Sie das nicht waren, wenden Sie sich bitte an den Support.',
        link: 'Änderung rückgängig machen',
        note: 'Wenn Sie das waren, ignorieren Sie diese E-Mail.',
      },
    },
  },
  fr: {
    messages: {
      'auth.email_change_failed':
        'Ce lien de modification de l’adresse e-mail n’est plus valable. Veuillez en demander un nouveau.',
      'auth.new_email_taken':
        'Entre-temps, un autre compte a reçu cette adresse e-mail. L’adresse de votre compte est inchangée.',
      'auth.former_email_taken':
        'Cette adresse e-mail est désormais associée à un autre compte. Veuillez contacter l’assistance.',
    },
    mails: {
      emailChange: {
        subject: 'Confirmez votre nouvelle adresse e-mail pour {appName}',
        preheader: 'Confirmez la nouvelle adresse avec le lien de cet e-mail.',
        title: 'Confirmer votre nouvelle adresse e-mail',
        body: 'Cette adresse a été indiquée comme nouvelle adresse e-mail d’un compte {appName}. Elle remplacera l’adresse précédente lorsque vous l’aurez confirmée.',
        link: 'Confirmer la nouvelle adresse',
        note: 'Si vous n’avez pas fait cette demande, ignorez cet e-mail : rien ne changera.',
      },
      emailChanged: {
        subject: 'Votre adresse e-mail {appName} a été modifiée',
        preheader: 'Était-ce vous ? Sinon, annulez la modification avec le lien de cet e-mail.',
        title: 'Votre adresse e-mail a été modifiée',
        body: 'L’adresse e-mail de votre compte {appName} a été modifiée.\n\nSi ce n’était pas vous, ouvrez le lien. Il annule la modification et met fin à toutes les sessions. Vous choisirez ensuite un nouveau mot de passe.',
        bodyWithoutLink:
          'L’adresse e-mail de votre compte {appName} a été modifiée. Cette adresse n’est plus utilisée.\n\nSi ce n’était pas vous, veuillez contacter l’assistance.',
        link: 'Annuler la modification',
        note: 'Si c’était vous, ignorez cet e-mail.',
      },
    },
  },
  es: {
    messages: {
      'auth.email_change_failed':
        'Este enlace para cambiar la dirección de correo electrónico ya no es válido. Solicite uno nuevo.',
      'auth.new_email_taken':
        'Entretanto, otra cuenta tiene esta dirección de correo electrónico. La dirección de su cuenta no ha cambiado.',
      'auth.former_email_taken':
        'Ahora esta dirección de correo electrónico pertenece a otra cuenta. Póngase en contacto con el servicio de asistencia.',
    },
    mails: {
      emailChange: {
        subject: 'Confirme su nuevo correo electrónico para {appName}',
        preheader: 'Confirme la nueva dirección con el enlace de este mensaje.',
        title: 'Confirmar su nueva dirección de correo electrónico',
        body: 'Esta dirección se ha indicado como la nueva dirección de correo electrónico de una cuenta de {appName}. Sustituirá a la anterior cuando usted la confirme.',
        link: 'Confirmar la nueva dirección',
        note: 'Si no lo ha solicitado usted, ignore este mensaje: no cambiará nada.',
      },
      emailChanged: {
        subject: 'Se ha cambiado su correo electrónico de {appName}',
        preheader: '¿Ha sido usted? Si no, deshaga el cambio con el enlace de este mensaje.',
        title: 'Se ha cambiado su dirección de correo electrónico',
        body: 'Se ha cambiado la dirección de correo electrónico de su cuenta de {appName}.\n\nSi no ha sido usted, abra el enlace. Con él se deshace el cambio y se cierran todas las sesiones. Después podrá elegir una contraseña nueva.',
        bodyWithoutLink:
          'Se ha cambiado la dirección de correo electrónico de su cuenta de {appName}. Esta dirección ya no se utiliza.\n\nSi no ha sido usted, póngase en contacto con el servicio de asistencia.',
        link: 'Deshacer el cambio',
        note: 'Si ha sido usted, ignore este mensaje.',
      },
    },
  },
  pt: {
    messages: {
      'auth.email_change_failed': 'Este link para alterar o endereço de e-mail não é mais válido. Solicite um novo.',
      'auth.new_email_taken':
        'Nesse meio-tempo, outra conta passou a ter este endereço de e-mail. O endereço da sua conta não mudou.',
      'auth.former_email_taken':
        'Este endereço de e-mail agora pertence a outra conta. Entre em contato com o suporte.',
    },
    mails: {
      emailChange: {
        subject: 'Confirme seu novo e-mail para {appName}',
        preheader: 'Confirme o novo endereço com o link deste e-mail.',
        title: 'Confirmar seu novo endereço de e-mail',
        body: 'Este endereço foi informado como o novo endereço de e-mail de uma conta em {appName}. Ele substituirá o endereço anterior quando você o confirmar.',
        link: 'Confirmar o novo endereço',
        note: 'Se você não fez essa solicitação, ignore este e-mail: nada mudará.',
      },
      emailChanged: {
        subject: 'Seu e-mail em {appName} foi alterado',
        preheader: 'Foi você? Se não, desfaça a alteração com o link deste e-mail.',
        title: 'Seu endereço de e-mail foi alterado',
        body: 'O endereço de e-mail da sua conta em {appName} foi alterado.\n\nSe não foi você, abra o link. Ele desfaz a alteração e encerra todas as sessões. Depois, você escolhe uma nova senha.',
        bodyWithoutLink:
          'O endereço de e-mail da sua conta em {appName} foi alterado. Este endereço não é mais usado.\n\nSe não foi você, entre em contato com o suporte.',
        link: 'Desfazer a alteração',
        note: 'Se foi você, ignore este e-mail.',
      },
    },
  },
  ja: {
    messages: {
      'auth.email_change_failed':
        'このメールアドレス変更用リンクは無効になっています。新しいリンクをリクエストしてください。',
      'auth.new_email_taken':
        'その間に、このメールアドレスは別のアカウントに登録されました。お客様のアカウントのメールアドレスは変更されていません。',
      'auth.former_email_taken':
        'このメールアドレスは現在、別のアカウントで使用されています。サポートにお問い合わせください。',
    },
    mails: {
      emailChange: {
        subject: '{appName} の新しいメールアドレスの確認',
        preheader: 'このメールのリンクから、新しいメールアドレスの確認を完了してください。',
        title: '新しいメールアドレスの確認',
        body: 'このメールアドレスが {appName} のアカウントの新しいメールアドレスとして指定されました。確認が完了すると、以前のメールアドレスから変更されます。',
        link: '新しいメールアドレスを確認する',
        note: 'お心当たりがない場合は、このメールを破棄してください。変更は行われません。',
      },
      emailChanged: {
        subject: '{appName} のメールアドレスが変更されました',
        preheader: 'お心当たりがない場合は、このメールのリンクから変更を取り消してください。',
        title: 'メールアドレスが変更されました',
        body: '{appName} のアカウントのメールアドレスが変更されました。\n\nお心当たりがない場合は、リンクを開いてください。変更が取り消され、すべてのセッションが終了します。その後、新しいパスワードを設定できます。',
        bodyWithoutLink:
          '{appName} のアカウントのメールアドレスが変更されました。このメールアドレスは今後使用されません。\n\nお心当たりがない場合は、サポートにお問い合わせください。',
        link: '変更を取り消す',
        note: 'お客様ご自身による変更の場合は、このメールを破棄してください。',
      },
    },
  },
};
