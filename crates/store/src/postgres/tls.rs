//! TLS for the connection to the server, by rustls.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use engine::model::error::StoreError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CertificateTrust {
    /// Any: the connection is encrypted, but the server is not authenticated.
    AnyCertificate,
    /// One for this host, signed by a public certificate authority.
    WebRoots,
    /// One for this host, signed by a certificate in this PEM file.
    RootFile(String),
}

/// Makes TLS connections.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    pub(super) fn new(trust: &CertificateTrust) -> Result<Tls, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::Unavailable(format!("TLS cannot be set up: {error}")))?;
        let config = match trust {
            // As in libpq: `prefer` and `require` encrypt without authenticating the server.
            CertificateTrust::AnyCertificate => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
            }
            CertificateTrust::WebRoots => {
                builder.with_root_certificates(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
            }
            CertificateTrust::RootFile(path) => builder.with_root_certificates(load_root_certificates(path)?),
        };
        Ok(Tls(TlsConnector::from(Arc::new(config.with_no_client_auth()))))
    }
}

fn load_root_certificates(path: &str) -> Result<RootCertStore, StoreError> {
    let unusable = |reason: String| StoreError::Unavailable(format!("`sslrootcert` is `{path}`: {reason}"));
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        // One bad certificate refuses the file: a trust list that is used in part would fail later, without a reason.
        store.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    match store.is_empty() {
        true => Err(unusable("the file holds no certificate".to_owned())),
        false => Ok(store),
    }
}

/// Accepts every certificate, but checks that the server holds its private key.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = EncryptedStream<S>;
    type TlsConnect = TlsHandshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<TlsHandshake, io::Error> {
        // A Unix socket has no host name, and never uses TLS.
        let name = ServerName::try_from(host.to_owned()).ok();
        Ok(TlsHandshake { connector: self.0.clone(), name })
    }
}

pub(super) struct TlsHandshake {
    connector: TlsConnector,
    name: Option<ServerName<'static>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for TlsHandshake {
    type Stream = EncryptedStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            // The kind `InvalidData` counts as a TLS failure, for which connecting is not tried again.
            let unnamed =
                || io::Error::new(io::ErrorKind::InvalidData, "the host is not a name that a certificate can have");
            let name = self.name.ok_or_else(unnamed)?;
            Ok(EncryptedStream(self.connector.connect(name, stream).await?))
        })
    }
}

/// A TLS stream, as the driver needs it.
pub(super) struct EncryptedStream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for EncryptedStream<S> {
    /// None: SCRAM authentication then works without channel binding.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
