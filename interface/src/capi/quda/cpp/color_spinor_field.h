
#ifdef __cplusplus
namespace quda {

/* Vectors of the host as contractFTQuda takes them, with the members of QUDA's class that hosts set for it; of these it reads nColor,
 * nSpin, x, siteSubset, siteOrder, fieldOrder, gammaBasis and the precision. */
class ColorSpinorParam {
public:
  /* Tells this class from QUDA's own, whose memory is another. */
  unsigned plaq = 0x71616c70u;
  int nColor = 0, nSpin = 0, nVec = 1, nDim = 4, pad = 0;
  int x[QUDA_MAX_DIM] = {0};
  QudaPrecision precision = QUDA_INVALID_PRECISION;
  QudaSiteSubset siteSubset = QUDA_FULL_SITE_SUBSET;
  QudaSiteOrder siteOrder = QUDA_EVEN_ODD_SITE_ORDER;
  QudaFieldOrder fieldOrder = QUDA_SPACE_SPIN_COLOR_FIELD_ORDER;
  QudaGammaBasis gammaBasis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS;
  QudaFieldCreate create = QUDA_REFERENCE_FIELD_CREATE;
  QudaFieldLocation location = QUDA_CPU_FIELD_LOCATION;
  QudaPCType pc_type = QUDA_4D_PC;
  QudaTwistFlavorType twistFlavor = QUDA_TWIST_NO;
  void *v = nullptr;

  QudaPrecision Precision() const { return precision; }
  void setPrecision(QudaPrecision of_all, QudaPrecision = QUDA_INVALID_PRECISION, bool = false) { precision = of_all; }
};

} // namespace quda
#endif
